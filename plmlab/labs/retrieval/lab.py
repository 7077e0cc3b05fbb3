"""The Retrieval Lab: what a REALM looks up for a statement, what it reads there, and which document training would pull
nearer; with documents that can be edited."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import torch
import traitlets
from jaxtyping import Float
from torch import Tensor

from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.retrieval.edits import Edits
from plmlab.labs.retrieval.looking import Looking
from plmlab.labs.retrieval.plane import Plane
from plmlab.labs.retrieval.presets import RetrievalPreset
from plmlab.labs.retrieval.sight import Sight, drawing
from plmlab.labs.retrieval.state import Points, State
from plmlab.labs.shared.notes import empty, joined, left_out, unknown
from plmlab.objectives.retrieval_batches import Ids, Query
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.corpus import Corpus
from plmlab.retrieval.reading import Reading

MOST = 8
"""So many documents are looked up, at most."""
TEMPERATURES = 0.25, 4.0
SPECIAL = 3
"""[CLS] and two [SEP] around a statement and a document."""
EVERY = Edits()


class RetrievalLab(Lab):
    """A statement with a gap; the documents that are looked up for it, each as wide as p(z|x), filled as high as
    p(y|z,x); and the arrows r(z) by which training would move their scores. Documents can be edited, deleted, added and
    left out: the lab works on a copy of the lookup, which stays as it is.

    Args:
        lookup: a REALM among its documents, a `plmlab.models.retrieve_and_read.RetrieveAndRead`.
        presets: statements to try; the lab begins with the first.
        text: the statement to begin with, with [MASK] for each hidden token, if it is none of these.
        max_tokens: the longest statement.
        traits: what the reader can set besides: ``k`` (how many documents are looked up, 1 … 8), ``temperature`` (0.25
            … 4), ``null`` (whether the null document is in sight), ``also`` (an answer that is shown in any case),
            ``chosen`` (the answer that the arrows are for; "" for the likeliest), ``excluded`` (numbers of documents
            that may not be looked up), ``added`` ([title, text] each), ``replaced`` (number → [title, text]) and
            ``removed`` (numbers).

    ValueError: a lookup without documents, nothing to begin with, or a statement that has no gap.
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

    def __init__(self, lookup: Looking, presets: Sequence[RetrievalPreset] = (), text: str = "", *,
                 max_tokens: int = 40, **traits: Any) -> None:
        if not lookup.corpus.documents:
            raise ValueError("the lookup holds no documents: give it some, Lookup.of(model, tokenizer, documents)")
        if not presets and not text:
            raise ValueError("there is no statement to begin with: give presets, or a text with [MASK] in it")
        self.lookup, self.presets, self.tokenizer = Edits().applied(lookup), list(presets), lookup.tokenizer
        self._edited = lru_cache(4)(lambda edits: edits.applied(self.lookup))
        self._read = lru_cache(32)(self._reading)
        self._longest = max(map(len, self._bodies([*self.lookup.corpus.documents.values()])))
        self.plane = self._plane([one.text for one in presets] + ([text] if text else []))
        begin = {"text": text} if text else presets[0].traits()
        super().__init__(**begin | traits, menu=self._menu(), max_tokens=max_tokens)
        if self.stale:
            raise ValueError(self.message)

    def summary(self) -> str:
        """The statement, and the likeliest answer."""
        if not self.state:
            return self.message
        best = max(self.state["answers"], key=lambda one: one["p"])
        return f"{self._drawn['text']} → {best['text']} ({best['p']:.2f})"

    def compute(self, change: Change) -> Computed:
        """The statement read with the documents as they are now, and, where these were edited, as they were."""
        if not 1 <= self.k <= MOST:
            raise ValueError(f"k is {self.k}; look up from 1 to {MOST} documents")
        if not TEMPERATURES[0] <= self.temperature <= TEMPERATURES[1]:
            raise ValueError(f"temperature is {self.temperature:g}; give a number from 0.25 to 4")
        query, note = self._query()
        edits = Edits.of(self.added, self.replaced, self.removed)
        self._check_room(edits, len(query.tokens))
        preset = next((place for place, one in enumerate(self.presets) if one.text == self.text), None)
        known = RetrievalPreset("", "") if preset is None else self.presets[preset]
        lookup = self._edited(edits)
        excluded = tuple(sorted(number for number in set(self.excluded) if number in lookup.corpus.documents))
        right = tuple(self.tokenizer.encode(known.answer, plain=True))
        asked, strange = self._asked(len(query.hidden), right)
        now, before = self._both(query, edits, excluded, tuple(known.excluded), asked)
        drawn = drawing(Sight(lookup, now), Sight(self.lookup, before) if before else None, asked, right)
        left = len(lookup.corpus.documents) - len(excluded)
        state: State = {**drawn, "gaps": len(query.hidden), "preset": preset,
                        "plane": self._points(query, edits, lookup.corpus)}
        none = "" if left else "No document is left: the reader has only what it learned into its weights."
        return Computed({"state": state, "message": joined(note, strange, self._unknown(edits), none)})

    def _query(self) -> tuple[Query, str]:
        """The statement, and what is to be said of it."""
        vocab = self.tokenizer.vocab
        typed = self.tokenizer.encode(self.text)
        if not typed:
            raise empty("statement")
        mask = vocab.need("mask")
        own = [id for id in typed if id in vocab.special and id not in (vocab.unk, mask)]
        if own:
            raise ValueError(f"{self.tokenizer.tokens(own)[0]} stands in the statement, and is set by the lab: type "
                             "words, and [MASK] for what is to be looked up. What is drawn is from before.")
        room = min(self.max_tokens, self.lookup.model.config.time - SPECIAL - self._longest)
        ids = tuple(typed[:max(room, 0)])
        hidden = tuple(place for place, id in enumerate(ids) if id == mask)
        if not hidden and mask in typed:
            raise ValueError(f"The statement is longer than the {room} tokens that are read, and its [MASK] comes "
                             "after them: shorten it. What is drawn is from before.")
        if not hidden:
            raise ValueError("Nothing is hidden in the statement: write [MASK] where something is to be looked up, one "
                             "for each word. What is drawn is from before.")
        strange = sum(id == vocab.unk for id in ids)
        return Query(ids, hidden), joined(left_out(len(typed) - len(ids), room), unknown(strange))

    def _check_room(self, edits: Edits, statement: int) -> None:
        """Whether all that was written finds room behind the statement, and behind its title."""
        for one, body in zip(edits.written, self._bodies(edits.written), strict=True):
            title = len(self.tokenizer.encode(one.title, plain=True))
            room = self.lookup.model.config.time - SPECIAL - max(title, statement)
            if len(body) > room:
                raise ValueError(f"The document “{one.title[:40]}” is too long: {len(body)} tokens, and there is room "
                                 f"for {max(room, 0)}. Shorten it. What is drawn is from before.")

    def _unknown(self, edits: Edits) -> str:
        """What is to be said of words that nobody knows, in the documents that were written."""
        count = sum(id == self.tokenizer.vocab.unk for body in self._bodies(edits.written) for id in body)
        return f"In what you wrote into the documents, {unknown(count)}" if count else ""

    def _asked(self, gaps: int, right: Ids) -> tuple[tuple[Ids, ...], str]:
        """The answers that are shown in any case, the right one and the reader's own; and why this is not."""
        own = tuple(self.tokenizer.encode(self.also, plain=True))
        fitting = tuple(dict.fromkeys(one for one in (right, own) if len(one) == gaps))
        if len(own) in (0, gaps):
            return fitting, ""
        return fitting, f"“{self.also.strip()}” has {len(own)} tokens, and the gap {gaps}: it cannot stand there."

    def _both(self, query: Query, edits: Edits, excluded: Ids, of_preset: Ids, asked: tuple[Ids, ...],
              ) -> tuple[Reading, Reading | None]:
        """What is read now; and what was read before anything was edited, None where nothing was. Each knows the
        other's answers."""
        whole = tuple(sorted(number for number in of_preset if number in self.lookup.corpus.documents))
        given = self.k, self.temperature, self.null
        before = self._read(query._replace(excluded=whole), EVERY, *given, asked)
        if edits == EVERY and excluded == whole:
            return before, None
        also = tuple(dict.fromkeys([*before.answers, *asked]))
        now = self._read(query._replace(excluded=excluded), edits, *given, also)
        if not set(now.answers) <= set(before.answers):
            before = self._read(query._replace(excluded=whole), EVERY, *given, now.answers)
        return now, before

    def _reading(self, query: Query, edits: Edits, k: int, temperature: float, null: bool,
                 also: tuple[Ids, ...]) -> Reading:
        lookup = self._edited(edits)
        if not null and not len(lookup.corpus.documents) - len(query.excluded):
            raise ValueError("No document is left, and the null document is switched off: there is nothing to read. "
                             "Bring a document back, or switch it on. What is drawn is from before.")
        return lookup.read([query], k, null=null, temperature=temperature, also=[also])[0]

    def _bodies(self, documents: Sequence[Any]) -> list[list[int]]:
        return self.tokenizer.encode_all([one.text for one in documents], plain=True) if documents else []

    def _vector(self, query: Query) -> Float[Tensor, "1 width"]:
        """The statement's vector."""
        return self.lookup.corpus.retriever.queries([query]).float().cpu()

    def _plane(self, texts: Sequence[str]) -> Plane:
        """The plane of the documents as they were given, with room for some statements."""
        mask = self.tokenizer.vocab.need("mask")
        room = self.lookup.model.config.time - SPECIAL
        asked = [tuple(self.tokenizer.encode(text)[:room]) for text in texts]
        vectors = [self._vector(Query(ids, tuple(place for place, id in enumerate(ids) if id == mask)))
                   for ids in asked if ids]
        known = self.lookup.corpus.index.vectors([*self.lookup.corpus.documents])
        return Plane.fitted(known, torch.cat([known[:0], *vectors]))

    def _points(self, query: Query, edits: Edits, corpus: Corpus[Query, Block]) -> Points:
        """Where the statement lies, and what was written; and all documents, the highest inner product first."""
        numbers = [number for number in (*range(self.lookup.corpus.index.next_number, corpus.index.next_number),
                                         *(one for one, _ in edits.replaced)) if number in corpus.documents]
        vector = self._vector(query)
        found = corpus.index.search(vector, max(1, len(corpus.documents)))
        written = self.plane.at(corpus.index.vectors(numbers)) if numbers else []
        return {"query": self.plane.at(vector)[0], "written": dict(zip(map(str, numbers), written, strict=True)),
                "ranked": [*found.lists()[0]]}

    def _menu(self) -> dict[str, Any]:
        """What does not change: presets, the documents as they were given, and the plane with their points."""
        documents = self.lookup.corpus.documents
        points = self.plane.at(self.lookup.corpus.index.vectors([*documents]))
        return {"presets": [{"title": one.title} | one.traits() for one in self.presets], "most": MOST,
                "next": self.lookup.corpus.index.next_number, "share": self.plane.share, "box": list(self.plane.box),
                "documents": [{"number": number, "title": one.title, "text": one.text, "at": at}
                              for (number, one), at in zip(documents.items(), points, strict=True)]}
