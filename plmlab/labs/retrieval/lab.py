"""The Retrieval Lab: the documents that REALM or RAG retrieves for a query, or the entities or facts that EaE or FaE
retrieves from its memory; the predictions from them, and the gradients on the retrieval scores. Documents and facts can
be edited."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import torch
import traitlets
from jaxtyping import Float
from torch import Tensor

from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.retrieval.edits import Edits
from plmlab.labs.retrieval.plane import Plane
from plmlab.labs.retrieval.presets import RetrievalPreset
from plmlab.labs.retrieval.protocol import Retriever
from plmlab.labs.retrieval.queries import queries_of
from plmlab.labs.retrieval.state import Points, State
from plmlab.labs.retrieval.view import PredictionView, drawing
from plmlab.labs.shared.notes import joined
from plmlab.objectives.retrieval_batches import Ids, Query
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.corpus import Corpus
from plmlab.retrieval.reading import Reading

MOST = 8
"""Maximum number of documents retrieved."""
TEMPERATURES = 0.25, 4.0
EVERY = Edits()


class RetrievalLab(Lab):
    """A query with a masked span, or a question, and the documents retrieved for it. Each document is drawn with width
    p(z|x) and filled to height p(y|z,x); arrows show the gradients r(z) on the scores. The answer to a question is
    generated token by token, with RAG-Sequence's and RAG-Token's mixture over the documents. Documents can be edited,
    deleted, added and excluded. The lab works on a copy of the model, which itself stays unchanged.

    Args:
        lookup: the model with its corpus, a REALM (`plmlab.models.retrieve_and_read.RetrieveAndRead`), a RAG
            (`plmlab.models.rag.RetrieveAndGenerate`), an EaE or a FaE (`plmlab.models.memory_readers`).
        presets: queries to try; the first one is shown initially.
        text: the initial query, if it is not a preset: with one [MASK] per masked token, for RAG a question.
        max_tokens: the maximum length of a query.
        traits: initial values of other traits: ``k`` (the number of documents retrieved, 1 … 8), ``temperature`` (0.25
            … 4), ``null`` (include REALM's null document), ``also`` (an answer that is always shown), ``chosen`` (the
            target for the gradients; "" for the most probable answer), ``excluded`` (numbers of the documents excluded
            from retrieval), ``added`` ([title, text] each), ``replaced`` (number → [title, text]) and ``removed``
            (numbers).

    Raises ValueError if the corpus has no documents, if there is no initial query, or if the model cannot use it.
    """

    title = "Retrieval Lab"
    module = "retrieval/lab.js"
    styles = ("retrieval/lab.css",)
    inputs: ClassVar = ("text", "k", "temperature", "null", "also", "excluded", "added", "replaced", "removed",
                        "max_tokens")

    k = traitlets.Int(4).tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    null = traitlets.Bool(True).tag(sync=True)
    also = traitlets.Unicode().tag(sync=True)
    chosen = traitlets.Unicode().tag(sync=True)
    excluded: traitlets.List = traitlets.List().tag(sync=True)
    added: traitlets.List = traitlets.List().tag(sync=True)
    replaced: traitlets.Dict = traitlets.Dict().tag(sync=True)
    removed: traitlets.List = traitlets.List().tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, lookup: Retriever, presets: Sequence[RetrievalPreset] = (), text: str = "", *,
                 max_tokens: int = 40, **traits: Any) -> None:
        if not lookup.corpus.documents:
            raise ValueError("the corpus has no documents: build the model with "
                             "RetrieveAndRead.of(model, tokenizer, documents), or with RetrieveAndGenerate.of")
        if not presets and not text:
            raise ValueError("there is no initial query: give presets, or a text")
        self.lookup, self.presets, self.tokenizer = Edits().applied(lookup), list(presets), lookup.tokenizer
        self.queries = queries_of(self.lookup)
        self._edited = lru_cache(4)(lambda edits: edits.applied(self.lookup))
        self._read = lru_cache(32)(self._reading)
        self.plane = self._plane([preset.text for preset in presets] + ([text] if text else []))
        begin = {"text": text} if text else presets[0].traits()
        super().__init__(**begin | traits, menu=self._menu(), max_tokens=max_tokens)
        if self.stale:
            raise ValueError(self.message)

    def summary(self) -> str:
        """The query and its most probable answer."""
        if not self.state:
            return self.message
        best = max(self.state["answers"], key=lambda answer: answer["p"])
        return f"{self._drawn['text']} → {best['text']} ({best['p']:.2f})"

    def compute(self, change: Change) -> Computed:
        """Answer the query with the current documents and, if they were edited, also with the original ones."""
        if not 1 <= self.k <= MOST:
            raise ValueError(f"k is {self.k}; retrieve from 1 to {MOST} documents")
        if not TEMPERATURES[0] <= self.temperature <= TEMPERATURES[1]:
            raise ValueError(f"temperature is {self.temperature:g}; give a number from 0.25 to 4")
        query, note = self.queries.checked(self.text, self.max_tokens)
        edits = Edits.of(self.added, self.replaced, self.removed)
        unknown = self.queries.check_room(edits.written, query)
        preset = next((index for index, each in enumerate(self.presets) if each.text == self.text), None)
        known = RetrievalPreset("", "") if preset is None else self.presets[preset]
        lookup = self._edited(edits)
        excluded = tuple(sorted(number for number in set(self.excluded) if number in lookup.corpus.documents))
        correct = tuple(self.tokenizer.encode(known.answer, plain=True))
        always, mismatch = self.queries.always_shown(query, correct, self.also)
        now, before = self._both(query, edits, excluded, tuple(known.excluded), always)
        drawn = drawing(PredictionView(lookup, now), PredictionView(self.lookup, before) if before else None, always,
                        correct)
        left = len(lookup.corpus.documents) - len(excluded)
        state: State = {**drawn, "kind": self.queries.kind, "gaps": len(query.hidden), "preset": preset,
                        "plane": self._points(query, edits, lookup.corpus)}
        none = "" if left else "Nothing is left to retrieve: the model has only what is stored in its weights."
        return Computed({"state": state, "message": joined(note, mismatch, unknown, none)})

    def _both(self, query: Query, edits: Edits, excluded: Ids, of_preset: Ids, always: tuple[Ids, ...],
              ) -> tuple[Reading, Reading | None]:
        """The predictions with the current documents, and with the original documents (None if nothing was edited).
        Each includes the answers of the other."""
        whole = tuple(sorted(number for number in of_preset if number in self.lookup.corpus.documents))
        given = self.k, self.temperature, self.null
        before = self._read(self.text, query._replace(excluded=whole), EVERY, *given, always)
        if edits == EVERY and excluded == whole:
            return before, None
        also = tuple(dict.fromkeys([*before.answers, *always]))
        now = self._read(self.text, query._replace(excluded=excluded), edits, *given, also)
        if not set(now.answers) <= set(before.answers):
            before = self._read(self.text, query._replace(excluded=whole), EVERY, *given, now.answers)
        return now, before

    def _reading(self, text: str, query: Query, edits: Edits, *given: Any) -> Reading:
        return self.queries.read(self._edited(edits), text, query, *given)

    def _vector(self, query: Query) -> Float[Tensor, "1 width"]:
        """The query's embedding vector."""
        return self.lookup.corpus.retriever.queries([query]).float().cpu()

    def _plane(self, texts: Sequence[str]) -> Plane:
        """The plane fitted to the original documents, with a bounding box that also contains the given queries."""
        vectors = [self._vector(query) for query in map(self.queries.query, texts) if query.tokens]
        known = self.lookup.corpus.index.vectors([*self.lookup.corpus.documents])
        return Plane.fitted(known, torch.cat([known[:0], *vectors]))

    def _points(self, query: Query, edits: Edits, corpus: Corpus[Query, Block]) -> Points:
        """The coordinates of the query and of the edited documents; and all documents, sorted by decreasing inner
        product with the query."""
        numbers = [number for number in (*range(self.lookup.corpus.index.next_number, corpus.index.next_number),
                                         *(edited for edited, _ in edits.replaced)) if number in corpus.documents]
        vector = self._vector(query)
        found = corpus.index.search(vector, max(1, len(corpus.documents)))
        written = self.plane.at(corpus.index.vectors(numbers)) if numbers else []
        return {"query": self.plane.at(vector)[0], "written": dict(zip(map(str, numbers), written, strict=True)),
                "ranked": [*found.lists()[0]]}

    def _menu(self) -> dict[str, Any]:
        """The data that never changes: presets, the original documents, and their coordinates in the plane."""
        documents = self.lookup.corpus.documents
        points = self.plane.at(self.lookup.corpus.index.vectors([*documents]))
        return {"presets": [{"title": preset.title} | preset.traits() for preset in self.presets], "most": MOST,
                "next": self.lookup.corpus.index.next_number, "share": self.plane.share, "box": list(self.plane.box),
                "documents": [{"number": number, "title": block.title, "text": block.text, "at": at}
                              for (number, block), at in zip(documents.items(), points, strict=True)]}
