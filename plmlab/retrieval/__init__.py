"""Retrieval (检索): which texts speak of what is asked."""

from plmlab.retrieval.blocks import Block, blocks
from plmlab.retrieval.bm25 import BM25
from plmlab.retrieval.hnsw import HNSWIndex
from plmlab.retrieval.index import DocumentIndex, FlatIndex, Found
from plmlab.retrieval.ivf import IVFIndex
from plmlab.retrieval.stored_index import StaleIndex, load_index, save_index

__all__ = ["BM25", "Block", "DocumentIndex", "FlatIndex", "Found", "HNSWIndex", "IVFIndex", "StaleIndex", "blocks",
           "load_index", "save_index"]
