"""Retrieval (检索): finding the documents relevant to a query."""

from plmlab.retrieval.blocks import Block, blocks
from plmlab.retrieval.bm25 import BM25
from plmlab.retrieval.corpus import Corpus, Retriever
from plmlab.retrieval.hnsw import HNSWIndex
from plmlab.retrieval.index import DocumentIndex, FlatIndex
from plmlab.retrieval.ivf import IVFIndex
from plmlab.retrieval.retrieved import NULL, Retrieved
from plmlab.retrieval.stored_index import StaleIndex, load_index, save_index

__all__ = ["BM25", "NULL", "Block", "Corpus", "DocumentIndex", "FlatIndex", "HNSWIndex", "IVFIndex", "Retrieved",
           "Retriever", "StaleIndex", "blocks", "load_index", "save_index"]
