"""Longer texts: articles, stories and sentence pairs."""
