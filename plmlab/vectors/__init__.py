"""Word vectors: nearest neighbours, analogies, and file formats."""

from plmlab.vectors.keyed_vectors import from_keyed_vectors, to_keyed_vectors
from plmlab.vectors.layout import VectorFileError
from plmlab.vectors.reading import read_vectors
from plmlab.vectors.word_vectors import Neighbour, WordVectors
from plmlab.vectors.writing import write_glove, write_word2vec, write_word2vec_binary

__all__ = ["Neighbour", "VectorFileError", "WordVectors", "from_keyed_vectors", "read_vectors", "to_keyed_vectors",
           "write_glove", "write_word2vec", "write_word2vec_binary"]
