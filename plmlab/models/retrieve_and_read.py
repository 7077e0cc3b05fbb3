"""A REALM among its documents: what it looks up for a statement, what it says, and what each document had to do with
that (Guu et al. 2020, §3)."""

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

TOP = 4
"""So many documents are looked up, beside the null document."""
NOTHING = Block("", 0, ())
"""The null document."""


@dataclass(frozen=True)
class RetrieveAndRead:
    """A model, and the documents that it looks things up in."""

    model: REALM
    corpus: TextCorpus

    @classmethod
    def of(cls, model: REALM, tokenizer: Tokenizer, documents: Sequence[Block] = ()) -> Self:
        """A model among documents that its own embedder makes the vectors of."""
        return cls(model, TextCorpus(TextRetriever(tokenizer, model.embedder), documents))

    def among(self, corpus: TextCorpus) -> Self:
        """The same model among other documents."""
        return replace(self, corpus=corpus)

    @property
    def tokenizer(self) -> Tokenizer:
        """How model and corpus read a text."""
        return self.corpus.retriever.tokenizer

    def retrieve(self, queries: Sequence[Query], most: int = TOP) -> Retrieved:
        """The ``most`` best documents for each statement, without those that are excluded for it."""
        return self.corpus.search(queries, most, [one.excluded for one in queries])

    def batch(self, queries: Sequence[Query], found: Retrieved) -> RetrievedBatch:
        """The statements with documents, `NULL` among them or not, to be learned from."""
        reads, blocks = self.corpus.retriever, {NULL: NOTHING} | self.corpus.documents
        readings = [reader_input(queries[row].tokens, reads.body(blocks[number]), vocab=reads.vocab, rng=Random(0),
                              hidden=queries[row].hidden) for row, number in found.pairs.tolist()]
        return RetrievedBatch.of([*map(reads.query, queries)], found,
                                 [reads.document(blocks[number]) for number in found.documents.tolist()], readings,
                                 pad=reads.vocab.need("pad"))

    @torch.no_grad()
    def read(self, queries: Sequence[Query], most: int = TOP, *, null: bool = True, temperature: float = 1.0,
             also: Sequence[Sequence[Ids]] | None = None) -> list[Reading]:
        """What is made of each statement with the ``most`` best documents, and with the null document unless ``null``
        is False. Scores are divided by the ``temperature`` before the softmax. ``also`` are answers, for each
        statement, that are to be among its own."""
        found = self.retrieve(queries, most)
        found = found.with_null() if null else found
        also = [()] * len(queries) if also is None else also
        made, step = list[Reading](), max(1, ROWS // (most + 1))
        for first in range(0, len(queries), step):
            some = slice(first, first + step)
            batch = self._batch(queries[some], found[some])
            made += self._made(queries[some], batch, self.model.retrieved(batch), temperature, also[some])
        return made

    @torch.no_grad()
    def read_with(self, query: Query, found: Retrieved) -> Reading:
        """What is made of a statement with documents that another has found, by the scores that they have there."""
        return self._made([query], self._batch([query], found), found, 1.0, [()])[0]

    def _batch(self, queries: Sequence[Query], found: Retrieved) -> RetrievedBatch:
        self.model.eval()
        return self.batch(queries, found).to(next(self.model.parameters()).device)

    def _made(self, queries: Sequence[Query], batch: RetrievedBatch, found: Retrieved, temperature: float,
              also: Sequence[Sequence[Ids]]) -> list[Reading]:
        """A `Reading` per statement, from log p of each token at each hidden position of all readings, one after the
        other."""
        hidden = self.model.reader.encoder(batch.reader_inputs)[batch.targets != IGNORE]
        said = self.model.reader.token_logits(hidden).log_softmax(1).cpu()
        found = found.to("cpu")
        each = [found[row:row + 1] for row in range(len(queries))]
        ends = accumulate((len(query.hidden) * len(one.numbers[0]) for query, one in zip(queries, each, strict=True)),
                          initial=0)
        return [_reading(one, temperature, said[first:end].unflatten(0, (one.numbers.shape[1], -1)), more)
                for one, (first, end), more in zip(each, pairwise(ends), also, strict=True)]


def _reading(found: Retrieved, temperature: float, said: Float[Tensor, "doc token vocab"], also: Sequence[Ids],
             ) -> Reading:
    answers = [*dict.fromkeys([*map(tuple, said.argmax(2).tolist()), *map(tuple, also)])]
    each = torch.stack([said.gather(2, torch.tensor(answer).expand(len(said), -1)[..., None]).sum((1, 2))
                        for answer in answers], 1).exp()
    order = (found.probs(temperature)[0] @ each).argsort(descending=True, stable=True).tolist()
    return Reading(found, temperature, tuple(answers[place] for place in order), each[:, order])
