"""What happens to a request on its way out and to its answer on the way back.

In the order of the way out: :mod:`robots` (may it go), :mod:`backoff` (what a bad answer
means for URL and host), :mod:`redirect` (a target is a URL of its own), :mod:`decompression`
(the body as the server meant it, within bounds). Each reads options, translates between
Scrapy's objects and values, counts and logs; the decisions are made in the stages.
"""
