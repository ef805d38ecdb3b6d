"""What happens to a request on its way out and to its answer on the way back.

On the way out :mod:`robots` (may it go); on the way back, in this order, :mod:`backoff` (what
an answer means for URL and host: the status counts before anything else does), :mod:`redirect`
(a target is a URL of its own), :mod:`decompression` (the body as the server meant it, within
bounds). Each reads options, translates between
Scrapy's objects and values, counts and logs; the decisions are made in the stages.
"""
