"""Lexical ranking with BM25 (Robertson and Walker 1994), the standard baseline for learned retrievers, computed by
`bm25s` in Lucene's variant."""

from collections.abc import Sequence

import torch

from plmlab.lists import refuse_string
from plmlab.retrieval.retrieved import Retrieved


class BM25:
    """BM25 index of texts, each a sequence of words; words match if their spelling is identical.

    A word that occurs in n of N texts, and f times in a given text, has the weight ln(1 + (N − n + ½) / (n + ½)) · f /
    (f + 1.5 · (¼ + ¾ · length / mean length)) for that text. Raises ValueError if all texts are empty, or if a text is
    a single string.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        import bm25s

        for text in texts:
            refuse_string(text, "a text")
        if not any(texts):
            raise ValueError("there is no word in these texts to index; give at least one text with a word")
        self.size = len(texts)
        self._index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        self._index.index([[*words] for words in texts], show_progress=False)

    def search(self, queries: Sequence[Sequence[str]], top_k: int) -> Retrieved:
        """The ``top_k`` texts with the highest scores for each query, best first; all texts if there are fewer. Texts
        are numbered from 0, and a text without any word of the query has the score 0. Raises ValueError for a query
        that is a single string."""
        for query in queries:
            refuse_string(query, "a query")
        texts, scores = self._index.retrieve([[*query] for query in queries], k=min(top_k, self.size),
                                             show_progress=False,
                                             backend_selection="numpy")  # "auto": jax, with all of a GPU's memory
        return Retrieved(torch.tensor(texts, dtype=torch.long), torch.tensor(scores))
