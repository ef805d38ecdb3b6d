"""What goes wrong between crawlers and sites, as data: one table for each kind of fault.

A *case* is a small web, or the input of one component, with the sentence that must hold of it
(``data/*.toml``; ``README.md`` describes the format). Cases of a web are crawled by the real
spider in a subprocess, many of them in one crawl, each on host names of its own; they are judged
by the server's request log and by the lines and rows that the crawl left behind. The others are
judged at the public function of their component.

::

    data/*.toml ──table──▶ Case ──▶ crawls (names, web: the local server) ──▶ Evidence ──▶ judge
                             └────▶ components: one function for each
"""
