"""Longer texts: articles, stories, sentence pairs."""
