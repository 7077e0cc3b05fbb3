"""A REALM among its documents: what it looks up for a statement, what it says, and what each document had to do with
that (Guu et al. 2020, §3)."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import accumulate, pairwise
from random import Random
from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.example import IGNORE, Batch, Example
from plmlab.models.realm import REALM
from plmlab.objectives.retrievals import NULL, Ids, Query, RetrievedBatch, RetrievedExample
from plmlab.objectives.retrieved import queried, retrieved, two_texts
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.index import DocumentIndex, FlatIndex
from plmlab.text.tokenizers import Tokenizer

TOP = 4
"""So many documents are looked up, beside the null document."""
ROWS = 64
"""So many texts are read at once."""


@dataclass(frozen=True)
class Reading:
    """What was made of a statement with the documents of these ``numbers``: their ``scores`` f(x, z); ``priors``
    p(z|x), the softmax of the scores over the temperature; ``answers``, what the reader thinks likeliest with each
    document in sight, the likeliest of all first; ``likelihoods`` p(y|z,x) of each of these with each document."""

    numbers: tuple[int, ...]
    scores: Float[Tensor, "doc"]
    priors: Float[Tensor, "doc"]
    answers: tuple[Ids, ...]
    likelihoods: Float[Tensor, "doc answer"]

    @property
    def marginals(self) -> Float[Tensor, "answer"]:
        """p(y|x) = Σ_z p(z|x) p(y|z,x) of each answer."""
        return self.priors @ self.likelihoods

    def pull(self, answer: int = 0) -> Float[Tensor, "doc"]:
        """r(z) = [p(y|z,x) / p(y|x) − 1] p(z|x), the derivative of log p(y|x) for what the softmax is taken of (§3.3):
        each document's score, over the temperature."""
        return (self.likelihoods[:, answer] / self.marginals[answer] - 1) * self.priors


class Lookup:
    """A model, and the documents that it looks things up in, which may be added, replaced and removed at any time; no
    weight changes by that. Their numbers are those of the ``index``; ``bodies`` is a number → the text as ids."""

    def __init__(self, model: REALM, tokenizer: Tokenizer, documents: Sequence[Block] = ()) -> None:
        self.model, self.tokenizer, self.vocab = model, tokenizer, tokenizer.vocab
        self.index: DocumentIndex = FlatIndex(model.config.width)
        self.documents: dict[int, Block] = {}
        self._read: dict[int, Example] = {NULL: two_texts((), (), self.vocab)}
        self.bodies: dict[int, Ids] = {NULL: ()}
        self.add(documents)

    def add(self, documents: Sequence[Block]) -> list[int]:
        """Take documents in; their numbers."""
        examples = [self._example(one) for one in documents]
        numbers = self.index.add([told(one) for one in documents], self._vectors(examples))
        self._keep(numbers, documents, examples)
        return numbers

    def replace(self, number: int, document: Block) -> None:
        """Put another document under a number."""
        example = self._example(document)
        self.index.replace([number], [told(document)], self._vectors([example]))
        self._keep([number], [document], [example])

    def remove(self, number: int) -> None:
        """Take a document out."""
        self.index.remove([number])
        for kept in (self.documents, self._read, self.bodies):
            del kept[number]

    def copied(self) -> Self:
        """The same model among the same documents, none of which is embedded anew; what is changed in one of the two,
        the other does not see. What is copied is the index, 4 bytes a number."""
        made = copy(self)
        made.index, made.documents = self.index.copied(), dict(self.documents)
        made._read, made.bodies = dict(self._read), dict(self.bodies)
        return made

    def retrieve(self, queries: Sequence[Query], most: int = TOP) -> list[tuple[int, ...]]:
        """For each statement the numbers of the documents with the highest scores, the best first, at most ``most``."""
        vectors = self._vectors([queried(one.tokens, one.hidden, self.vocab) for one in queries])
        found = self.index.search(vectors, most + max((len(one.excluded) for one in queries), default=0))
        return [tuple(number for number in row if number >= 0 and number not in one.excluded)[:most]
                for row, one in zip(found.numbers.tolist(), queries, strict=True)]

    def batch(self, queries: Sequence[Query], numbers: Sequence[Sequence[int]]) -> RetrievedBatch:
        """The statements with the documents of these ``numbers``, `NULL` among them or not, to be learned from."""
        examples = [RetrievedExample(queried(one.tokens, one.hidden, self.vocab), tuple(some),
                                     tuple(self.reading(one, number) for number in some))
                    for one, some in zip(queries, numbers, strict=True)]
        return RetrievedBatch.of(examples, self._read, pad=self.vocab.need("pad"))

    def reading(self, query: Query, number: int) -> Example:
        """What the reader reads of a statement and a document."""
        return retrieved(query.tokens, self.bodies[number], vocab=self.vocab, rng=Random(0), hidden=query.hidden)

    @torch.no_grad()
    def read(self, queries: Sequence[Query], most: int = TOP, *, null: bool = True, temperature: float = 1.0,
             also: Sequence[Sequence[Ids]] | None = None) -> list[Reading]:
        """What is made of each statement with the ``most`` best documents, and with the null document unless ``null``
        is False. Scores are divided by the ``temperature`` before the softmax. ``also`` are answers, for each
        statement, that are to be among its own."""
        numbers = [(*((NULL,) if null else ()), *some) for some in self.retrieve(queries, most)]
        also = [()] * len(queries) if also is None else also
        step = max(1, ROWS // (most + 1))
        return [reading for first in range(0, len(queries), step)
                for reading in self._made(queries[first:first + step], numbers[first:first + step], temperature,
                                          also[first:first + step])]

    @torch.no_grad()
    def read_with(self, query: Query, numbers: Sequence[int], priors: Float[Tensor, "doc"]) -> Reading:
        """What is made of a statement with documents that another has found, and its p(z|x) of each, of which the
        ``scores`` are the logarithms."""
        self.model.eval()
        batch = self.batch([query], [numbers]).to(self._device)
        return _reading(tuple(numbers), priors.log(), priors, self._said(batch).unflatten(0, (len(numbers), -1)), ())

    def _made(self, queries: Sequence[Query], numbers: Sequence[tuple[int, ...]], temperature: float,
              also: Sequence[Sequence[Ids]]) -> list[Reading]:
        self.model.eval()
        batch = self.batch(queries, numbers).to(self._device)
        scores, said = self.model.document_scores(batch).cpu(), self._said(batch)
        ends = accumulate((len(one.hidden) * len(some) for one, some in zip(queries, numbers, strict=True)), initial=0)
        return [_reading(some, score[:len(some)], (score[:len(some)] / temperature).softmax(0),
                         said[first:end].unflatten(0, (len(some), -1)), more)
                for some, score, (first, end), more in zip(numbers, scores, pairwise(ends), also, strict=True)]

    def _said(self, batch: RetrievedBatch) -> Float[Tensor, "slot vocab"]:
        """log p of each token at each hidden slot of all readings, one after the other."""
        hidden = self.model.reader.bert(batch.readings)[batch.targets != IGNORE]
        return self.model.reader.token_logits(hidden).log_softmax(1).cpu()

    def refresh(self) -> None:
        """Make all vectors anew, after the embedder has learned."""
        numbers = [*self.documents]
        self.index.replace(numbers, [told(one) for one in self.documents.values()],
                           self._vectors([self._read[number] for number in numbers]))

    def _keep(self, numbers: Sequence[int], documents: Sequence[Block], examples: Sequence[Example]) -> None:
        for number, document, example in zip(numbers, documents, examples, strict=True):
            self.documents[number], self._read[number] = document, example
            self.bodies[number] = tuple(example.tokens[example.segments == 1][:-1].tolist())

    def _example(self, document: Block) -> Example:
        return two_texts(self._ids(document.title), self._ids(document.text), self.vocab)

    def _ids(self, text: str) -> Ids:
        return tuple(self.tokenizer.encode(text, plain=True))

    @torch.no_grad()
    def _vectors(self, examples: Sequence[Example]) -> Float[Tensor, "text width"]:
        self.model.eval()
        made = [self.model.embedder(Batch.of(examples[first:first + ROWS], pad=self.vocab.need("pad")).to(self._device))
                for first in range(0, len(examples), ROWS)]
        return torch.cat(made) if made else torch.empty(0, self.model.config.width)

    @property
    def _device(self) -> torch.device:
        return next(self.model.parameters()).device


def _reading(numbers: tuple[int, ...], scores: Float[Tensor, "doc"], priors: Float[Tensor, "doc"],
             said: Float[Tensor, "doc token vocab"], also: Sequence[Ids]) -> Reading:
    answers = [*dict.fromkeys([*map(tuple, said.argmax(2).tolist()), *map(tuple, also)])]
    each = torch.stack([said.gather(2, torch.tensor(answer).expand(len(numbers), -1)[..., None]).sum((1, 2))
                        for answer in answers], 1).exp()
    order = (priors @ each).argsort(descending=True, stable=True).tolist()
    return Reading(numbers, scores, priors, tuple(answers[place] for place in order), each[:, order])


def told(document: Block) -> str:
    """All that an index knows of a document's text."""
    return f"{document.title}: {document.text}"
