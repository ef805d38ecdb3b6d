"""The read API: what a crawl has found, over HTTP, while it runs and afterwards.

It reads three things that a crawl leaves in its job directory, and changes none of them::

    catalog (a row for each URL that was fetched)  ──▶ pages, history, domains
    pages.jsonl (a line for each unique page)      ──▶ text, headings, outlinks
    warc/ (the answers as they were received)      ──▶ raw

``app`` has the endpoints, ``parameters`` what they accept, ``documents`` what they answer,
``library`` finds what lies behind a row, ``bodies`` its bytes in the archive, ``streams`` sends
what is large, ``problems`` says what is wrong in one form, ``guard`` keeps strangers out and
browsers from running what was crawled, ``manual`` is the page for people, ``server`` listens.

Invariants:

* Nothing is written, and no method but GET is answered.
* No input ends in a 500: what cannot be read is a 4xx that names the parameter, a store out of
  reach a 503.
* Memory is bounded whatever is asked: listings come in pages or as a stream, bodies have a limit
  each and all together.
* What a crawled page contains is data: it is never sent in a form that a browser would run, and
  never becomes a header unchecked.

Endpoints are plain functions on a bounded number of threads, because the catalog blocks.
"""

from crawler.api.app import create_app
from crawler.api.library import Library
from crawler.api.server import Address, listen, serve, url_of

__all__ = ["Address", "Library", "create_app", "listen", "serve", "url_of"]
