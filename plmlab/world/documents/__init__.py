"""Longer texts: articles, stories, pairs of sentences."""
