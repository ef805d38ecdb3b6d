"""Where a crawl begins: seeds from the command line or a file, each checked before the start."""

from crawler.seeds.reader import MAX_SEEDS_BYTES, read_seeds

__all__ = ["MAX_SEEDS_BYTES", "read_seeds"]
