"""Scrapy's own switches and the wiring of the parts; our settings are in crawler/table.py."""

BOT_NAME = "crawler"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
COMMANDS_MODULE = "crawler.commands"
USER_AGENT = "crawler/0.1"

# --- the frontier decides what goes to a host, and when --------------------------------
SCHEDULER = "crawler.scheduler.FrontierScheduler"
DOWNLOADER = "crawler.seams.GatedDownloader"
DOWNLOAD_HANDLERS = {
    "http": "crawler.network.PoliteHttpHandler",
    "https": "crawler.network.PoliteHttpHandler",
    # nothing else leaves, whatever a spider or a pipeline makes of a page
    **dict.fromkeys(["data", "file", "ftp", "s3"]),
}
# Only one thing paces a host, so Scrapy's own pacing is neutral.
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS = 128
CONCURRENT_REQUESTS_PER_DOMAIN = 1
AUTOTHROTTLE_ENABLED = False
ROBOTSTXT_OBEY = False  # stock middleware: fetches past the scheduler, allows all on errors
DOWNLOAD_TIMEOUT = 30  # seconds for the whole response, not per read
DOWNLOAD_MAXSIZE = 16 * 2**20  # bytes, packed and unpacked each
DOWNLOAD_WARNSIZE = 0

# --- a short path: each stock part that is not needed costs CPU on every page -----------
CONCURRENT_ITEMS = 1  # Scrapy starts so many tasks per response; the default of 100 costs 2 ms
DOWNLOADER_MIDDLEWARES_BASE = {
    "crawler.middlewares.robots.RobotsMiddleware": 100,
    "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
    "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
    "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
    "crawler.middlewares.decompression.DecompressionMiddleware": 550,
    "crawler.middlewares.redirect.RedirectMiddleware": 600,
    "crawler.middlewares.backoff.BackoffMiddleware": 650,  # first to see an answer
}
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}
ITEM_PIPELINES = {
    "crawler.pipelines.exact_duplicates.ExactDuplicatesPipeline": 100,
    "crawler.pipelines.near_duplicates.NearDuplicatesPipeline": 200,
    "crawler.pipelines.export.ExportPipeline": 900,
}
EXTENSIONS_BASE = {
    "scrapy.extensions.corestats.CoreStats": 0,
    "scrapy.extensions.memusage.MemoryUsage": 0,
    "scrapy.extensions.closespider.CloseSpider": 0,
    "scrapy.extensions.feedexport.FeedExporter": 0,
    "crawler.extensions.report.Report": 500,
}
LOG_FORMATTER = "crawler.extensions.log_format.QuietLogFormatter"
LOG_LEVEL = "INFO"
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False  # would run posted Python
DEFAULT_REQUEST_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en",
}

TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
ASYNCIO_EVENT_LOOP = "uvloop.Loop"
FEED_EXPORT_ENCODING = "utf-8"
FEED_EXPORTERS = {
    "jsonlines": "crawler.extensions.feeds.JsonLinesPages",
    "jsonl": "crawler.extensions.feeds.JsonLinesPages",
    "jl": "crawler.extensions.feeds.JsonLinesPages",
    "json": "crawler.extensions.feeds.JsonPages",
    "csv": "crawler.extensions.feeds.CsvPages",
}
