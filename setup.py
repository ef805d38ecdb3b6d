"""For ``scrapyd-deploy``, which builds an egg with this file; all else is in pyproject.toml."""

from setuptools import setup

setup()
