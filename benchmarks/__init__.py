"""One question per file; each checks its own result before it prints a figure.

Run them through ``scripts/bench``. Machines are noisy: what counts is a ratio of two figures
of one run, taken in alternation, not a figure alone.
"""
