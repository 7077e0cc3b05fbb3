"""REALM at inference (Guu et al. 2020, §3): retrieve documents for a query, predict its masked tokens, and measure what
each document contributes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from random import Random
from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.example import IGNORE
from plmlab.models.realm import REALM
from plmlab.models.text_retriever import ROWS, TextCorpus, TextRetriever
from plmlab.objectives.reader_inputs import reader_input
from plmlab.objectives.retrieval_batches import Ids, Query, RetrievedBatch
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.reading import Reading
from plmlab.retrieval.retrieved import NULL, Retrieved
from plmlab.text.tokenizers import Tokenizer

TOP_K = 4
"""Default number of documents to retrieve (top k), in addition to the null document."""
NULL_BLOCK = Block("", 0, ())
"""The null document, which is empty."""


@dataclass(frozen=True)
class RetrieveAndRead:
    """A retrieve-and-read model: a REALM and the corpus from which it retrieves documents."""

    model: REALM
    corpus: TextCorpus

    @classmethod
    def of(cls, model: REALM, tokenizer: Tokenizer, documents: Sequence[Block] = ()) -> Self:
        """Build the model with a corpus of ``documents``, embedded by the model's own embedder."""
        return cls(model, TextCorpus(TextRetriever(tokenizer, model.embedder), documents))

    def with_corpus(self, corpus: TextCorpus) -> Self:
        """A copy that uses the same REALM with another corpus."""
        return replace(self, corpus=corpus)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer shared by model and corpus."""
        return self.corpus.retriever.tokenizer

    def retrieve(self, queries: Sequence[Query], top_k: int = TOP_K) -> Retrieved:
        """The top ``top_k`` documents for each query, without the documents excluded for it."""
        return self.corpus.search(queries, top_k, [query.excluded for query in queries])

    def batch(self, queries: Sequence[Query], found: Retrieved) -> RetrievedBatch:
        """Training batch of queries with the documents ``found``, which may include `NULL`."""
        retriever, blocks = self.corpus.retriever, {NULL: NULL_BLOCK} | self.corpus.documents
        readings = [reader_input(queries[row].tokens, retriever.body(blocks[number]), vocab=retriever.vocab,
                                 rng=Random(0), hidden=queries[row].hidden) for row, number in found.pairs.tolist()]
        return RetrievedBatch.of([*map(retriever.query, queries)], found,
                                 [retriever.document(blocks[number]) for number in found.documents.tolist()], readings,
                                 pad=retriever.vocab.need("pad"))

    @torch.no_grad()
    def read(self, queries: Sequence[Query], top_k: int = TOP_K, *, null: bool = True, temperature: float = 1.0,
             also: Sequence[Sequence[Ids]] | None = None) -> list[Reading]:
        """Predict the masked tokens of each query from its top ``top_k`` documents, and from the null document unless
        ``null`` is False. Retrieval scores are divided by ``temperature`` before the softmax. ``also`` holds
        additional candidate answers to score for each query."""
        found = self.retrieve(queries, top_k)
        found = found.with_null() if null else found
        also = [()] * len(queries) if also is None else also
        readings, step = list[Reading](), max(1, ROWS // (top_k + 1))
        for first in range(0, len(queries), step):
            chunk = slice(first, first + step)
            batch = self._batch(queries[chunk], found[chunk])
            readings += self._readings(queries[chunk], batch, self.model.retrieved(batch), temperature, also[chunk])
        return readings

    @torch.no_grad()
    def read_with(self, query: Query, found: Retrieved) -> Reading:
        """Predict the masked tokens of a query from documents ``found`` by another retriever, weighted by that
        retriever's scores."""
        return self._readings([query], self._batch([query], found), found, 1.0, [()])[0]

    def _batch(self, queries: Sequence[Query], found: Retrieved) -> RetrievedBatch:
        self.model.eval()
        return self.batch(queries, found).to(next(self.model.parameters()).device)

    def _readings(self, queries: Sequence[Query], batch: RetrievedBatch, found: Retrieved, temperature: float,
                  also: Sequence[Sequence[Ids]]) -> list[Reading]:
        """One `Reading` per query. The reader runs once; the log-probabilities at the masked positions of all (query,
        document) pairs are then grouped by query."""
        hidden = self.model.reader.encoder(batch.reader_inputs)[batch.targets != IGNORE]
        logprobs = self.model.reader.token_logits(hidden).log_softmax(1).cpu()  # [pair·token vocab]
        found = found.to("cpu")
        rows = [found[row:row + 1] for row in range(len(queries))]
        ends = accumulate((len(query.hidden) * len(row.numbers[0]) for query, row in zip(queries, rows, strict=True)),
                          initial=0)
        return [_reading(row, temperature, logprobs[first:end].unflatten(0, (row.numbers.shape[1], -1)), more)
                for row, (first, end), more in zip(rows, pairwise(ends), also, strict=True)]


def _reading(found: Retrieved, temperature: float, logprobs: Float[Tensor, "doc token vocab"], also: Sequence[Ids],
             ) -> Reading:
    """The `Reading` of one query: the most likely answer given each document, and the answers ``also``, by descending
    p(y|x)."""
    answers = [*dict.fromkeys([*map(tuple, logprobs.argmax(2).tolist()), *map(tuple, also)])]
    likelihoods = torch.stack([logprobs.gather(2, torch.tensor(answer).expand(len(logprobs), -1)[..., None]).sum((1, 2))
                               for answer in answers], 1).exp()  # p(y|z,x), [doc answer]
    order = (found.probs(temperature)[0] @ likelihoods).argsort(descending=True, stable=True).tolist()
    return Reading(found, temperature, tuple(answers[i] for i in order), likelihoods[:, order])
