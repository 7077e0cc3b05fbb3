"""Retrieval (检索): which texts speak of what is asked."""

from plmlab.retrieval.bm25 import BM25

__all__ = ["BM25"]
