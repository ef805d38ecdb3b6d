"""The generic spider: seeds in, pages out."""
