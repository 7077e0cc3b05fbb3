"""BM25 (Robertson and Walker 1994), the ranking by shared words that every learned retriever is measured against; the
work is `bm25s`'s, in Lucene's variant."""

from collections.abc import Sequence

import torch

from plmlab.lists import refuse_string
from plmlab.retrieval.retrieved import Retrieved


class BM25:
    """An index of texts, each a sequence of words; words are the same if they are spelled the same.

    A word that stands in n of N texts weighs ln(1 + (N − n + ½) / (n + ½)) · f / (f + 1.5 · (¼ + ¾ · length / mean
    length)), f times in the text. ValueError where there is no text with a word in it, and for a text that is one
    string.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        import bm25s

        for text in texts:
            refuse_string(text, "a text")
        if not any(texts):
            raise ValueError("there is no word in these texts to index; give one text with a word at least")
        self.size = len(texts)
        self._index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        self._index.index([[*words] for words in texts], show_progress=False)

    def search(self, queries: Sequence[Sequence[str]], most: int) -> Retrieved:
        """The ``most`` texts with the highest scores for each query, the best first; all of them where there are no
        more. The number of a text counts from 0, and its score is 0 where it shares no word with the query. ValueError
        for a query that is one string."""
        for query in queries:
            refuse_string(query, "a query")
        texts, scores = self._index.retrieve([[*query] for query in queries], k=min(most, self.size),
                                             show_progress=False,
                                             backend_selection="numpy")  # "auto": jax, with all of a GPU's memory
        return Retrieved(torch.tensor(texts, dtype=torch.long), torch.tensor(scores))
