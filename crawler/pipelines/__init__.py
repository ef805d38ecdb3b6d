"""What a page passes before it is stored, in this order.

:mod:`exact_duplicates` and :mod:`near_duplicates` give the verdict, :mod:`export` writes the
line. Only then are the page's links queued (by the scheduler), so that copies cannot feed
themselves. A pipeline for a new kind of content is one more class here, with an order in
``ITEM_PIPELINES``; items that are no :class:`crawler.model.Page` pass untouched.
"""
