"""Coverage-guided fuzzing of everything that reads bytes of strangers.

:mod:`targets` says what a target is given and what must hold of the answer, :mod:`seeds` where
a run begins, :mod:`limits` what one input may cost; ``scripts/fuzz`` runs them. What runs have
found is kept in ``tests/corpus/fuzz``, which ``tests/unit/test_fuzz_corpus.py`` replays.
"""
