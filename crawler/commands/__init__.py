"""Commands of this project beside Scrapy's own."""
