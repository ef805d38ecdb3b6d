"""A polite, durable web crawler as an ordinary Scrapy project. This is its map.

The way of one URL::

    arguments, seeds ──▶ frontier ──▶ scheduler ──▶ middlewares ──▶ network ──▶ the web
                          ▲    (which, when)   (may it go, what a bad answer means)   │
                          │                                                           ▼
            scheduler ◀── commit ◀── pipelines ◀────────── spiders.web ◀─────── an answer
        (outcome, links)  (group)   (verdict, line)         (parsing)

Stages hold the decisions and know neither Scrapy nor a clock nor a socket:

* ``urls``        what is one URL: resolution, normal form, host keys, scope, fingerprints
* ``seeds``       where a crawl begins
* ``frontier``    which URL goes next, and when; leases, budgets, host clocks; its engines
* ``politeness``  robots.txt, Retry-After, back-off: answers become numbers and verdicts
* ``parsing``     bytes become a page (charset, links, text, directives), or a list of pages
  (sitemaps, feeds); one module a content type
* ``dedupe``      which pages say the same
* ``store``       what is kept on disk, and in an object store
* ``traps``       which URLs are not worth fetching, by what came of others like them

The shell moves values between Scrapy and the stages:

* ``table`` (of settings), ``borrowed`` (those of Scrapy's that are checked), ``config`` (their
  values), ``arguments`` (of the spider), ``settings`` (Scrapy's own)
* ``job``         puts everything of one crawl together, in its ``directory``: ``admission`` (what
  belongs to it), ``discovery`` (what an answer leads to) and ``consequences`` (what it means);
  ``commit`` makes results durable, ``ledger`` keeps what other stages store with the frontier,
  ``lookout`` stands between frontier and traps
* ``received``    an answer, and the page that is made of it
* ``recording``   what is kept of a visit beside its line; ``stores`` opens archive and catalog,
  ``outbox`` brings rows to the catalog, ``uploading`` files to the object store
* ``scheduler``, ``requests``, ``visits``   the frontier in Scrapy's terms
* ``turns``       the same for downloads that bypass the scheduler
* ``seams``       the only file that touches Scrapy's internals
* ``answers``     become documents and are read, here or by ``workers`` in other processes
* ``network``     resolver with address guard, HTTP handler
* ``middlewares``, ``spiders``, ``pipelines``, ``extensions``, ``commands``   as in any project;
  ``one_page`` holds for the commands that look at a page beside any crawl

``charter`` keeps with what a crawl was begun. ``inspection`` and ``explanation`` (of
``facts``) read a job directory from outside, ``reading`` what a crawl has kept, ``api`` serves it
over HTTP; ``docs`` writes the generated documents.

On the ground lie ``model`` (the values that travel), ``clock``, ``printable`` (text of strangers),
``numbers`` (with their nouns) and ``errors``.
"""

__version__ = "0.1.0"
