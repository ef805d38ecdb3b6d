"""What the operator sees of a crawl: progress, summary, a quiet log."""
