"""What the Retrieval Lab's user types, and what the model needs of it: queries with masked tokens, or questions."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from plmlab.labs.retrieval.protocol import Generator, MemoryReader, Reader, Retriever
from plmlab.labs.retrieval.view import MOST_ANSWERS
from plmlab.labs.shared.notes import empty, joined, left_out, unknown
from plmlab.models.registry import architecture_of
from plmlab.objectives.retrieval_batches import Ids, Query
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.reading import GeneratedAnswers, Reading

SPECIAL = 3
"""[CLS] and two [SEP] around a query and a document, or around a document's title and text."""
ENDS = 2
"""[CLS] and [SEP] around a question, or [START] and [END] around a question and a document."""
BEAM = 3
"""Beam width of the searches for answers."""
MOST_TOKENS = 12
"""Maximum number of tokens of an answer to a question that the user types."""


class MaskedQueries:
    """Queries with one [MASK] per masked token. ``lookup`` is the model with the original documents."""

    kind = "masked"

    def __init__(self, lookup: Reader) -> None:
        self.lookup, self.tokenizer = lookup, lookup.tokenizer
        self.longest = max(map(len, self._bodies([*lookup.corpus.documents.values()])))

    def query(self, text: str) -> Query:
        """The encoded query, truncated so that it fits into the retriever's input."""
        return self._masked(self.tokenizer.encode(text), self.lookup.model.config.time - SPECIAL)

    def checked(self, text: str, max_tokens: int) -> tuple[Query, str]:
        """The query with at most ``max_tokens`` tokens, and a note on truncated and out-of-vocabulary tokens. Raises
        ValueError if it is empty, contains other special tokens than [MASK], or has no masked token."""
        vocab = self.tokenizer.vocab
        typed = self.tokenizer.encode(text)
        if not typed:
            raise empty("query")
        mask = vocab.need("mask")
        own = [id for id in typed if id in vocab.special and id not in (vocab.unk, mask)]
        if own:
            raise ValueError(f"The query contains {self.tokenizer.tokens(own)[0]}, which the lab inserts itself: type "
                             "words, and [MASK] for the tokens to predict. The previous result is still shown.")
        room = min(max_tokens, self.lookup.model.config.time - SPECIAL - self.longest)
        query = self._masked(typed, max(room, 0))
        if not query.hidden and mask in typed:
            raise ValueError(f"The query is longer than the {room} tokens that the model can use, and its [MASK] comes "
                             "after them: shorten it. The previous result is still shown.")
        if not query.hidden:
            raise ValueError("The query has no [MASK]: type one for each token to predict. The previous result is "
                             "still shown.")
        unknowns = sum(id == vocab.unk for id in query.tokens)
        return query, joined(left_out(len(typed) - len(query.tokens), room), unknown(unknowns))

    def check_room(self, documents: Sequence[Block], query: Query) -> str:
        """A note on out-of-vocabulary tokens in the ``documents`` that the user wrote; "" if there are none. Raises
        ValueError if one does not fit into the context window with its title and the query."""
        bodies = self._bodies(documents)
        for block, body in zip(documents, bodies, strict=True):
            title = len(self.tokenizer.encode(block.title, plain=True))
            check_length(block, len(body), self.lookup.model.config.time - SPECIAL - max(title, len(query.tokens)))
        return unknown_written(sum(id == self.tokenizer.vocab.unk for body in bodies for id in body))

    def always_shown(self, query: Query, correct: Ids, typed: str) -> tuple[tuple[Ids, ...], str]:
        """The answers that are always shown, the correct answer and the one that the user ``typed``; and a note if the
        latter does not fit the masked span."""
        own, gaps = tuple(self.tokenizer.encode(typed, plain=True)), len(query.hidden)
        fitting = tuple(dict.fromkeys(answer for answer in (correct, own) if len(answer) == gaps))
        if len(own) in (0, gaps):
            return fitting, ""
        return fitting, f"“{typed.strip()}” has {len(own)} tokens, but the masked span has {gaps}."

    def read(self, lookup: Reader, text: str, query: Query, k: int, temperature: float, null: bool,
             also: tuple[Ids, ...]) -> Reading:
        """The predictions with the documents of ``lookup``. Raises ValueError without a document and without the null
        document."""
        if not null and not len(lookup.corpus.documents) - len(query.excluded):
            raise ValueError("No document is left, and the null document is switched off: the reader has no input. "
                             "Restore a document, or switch the null document on. The previous result is still shown.")
        return lookup.read([query], k, null=null, temperature=temperature, also=[also])[0]

    def _masked(self, ids: Sequence[int], room: int) -> Query:
        mask = self.tokenizer.vocab.need("mask")
        return Query(tuple(ids[:room]), tuple(place for place, id in enumerate(ids[:room]) if id == mask))

    def _bodies(self, documents: Sequence[Any]) -> list[list[int]]:
        return self.tokenizer.encode_all([block.text for block in documents], plain=True) if documents else []


class MemoryQueries(MaskedQueries):
    """Texts with one masked mention, whose documents are the entities or facts of a memory, not a part of any input."""

    def __init__(self, lookup: MemoryReader) -> None:
        super().__init__(lookup)
        self.longest, self.kind = 0, lookup.kind
        retriever: Any = lookup.corpus.retriever
        self.names: Mapping[Ids, int] = retriever.ids

    def checked(self, text: str, max_tokens: int) -> tuple[Query, str]:
        """The query, as for a masked span. Raises ValueError if more than one span is masked."""
        query, note = super().checked(text, max_tokens)
        if query.hidden[-1] - query.hidden[0] >= len(query.hidden):
            raise ValueError("The sentence has several masked spans, but one mention is predicted: leave one, with a "
                             "[MASK] for each of its tokens. The previous result is still shown.")
        return query, note

    def check_room(self, documents: Sequence[Block], query: Query) -> str:
        """No note: the corpus checks the names when it is edited."""
        return ""

    def always_shown(self, query: Query, correct: Ids, typed: str) -> tuple[tuple[Ids, ...], str]:
        """The answers that are always shown, the correct answer and the one that the user ``typed``; and a note if the
        latter is not an entity."""
        own = tuple(self.tokenizer.encode(typed, plain=True))
        known = tuple(dict.fromkeys(answer for answer in (correct, own) if answer in self.names))
        return known, f"“{typed.strip()}” is not an entity of the model." if own and own not in self.names else ""

    def read(self, lookup: Reader, text: str, query: Query, k: int, temperature: float, null: bool,
             also: tuple[Ids, ...]) -> Reading:
        """The predictions with the documents of ``lookup``; there may be none."""
        return lookup.read([query], k, null=null, temperature=temperature, also=[also])[0]


class Questions:
    """Questions without masked tokens, to which an answer is generated. ``lookup`` is the model with the original
    documents."""

    kind = "generated"

    def __init__(self, lookup: Generator) -> None:
        self.lookup, self.tokenizer = lookup, lookup.tokenizer
        self.longest = max(map(len, self._inputs([*lookup.corpus.documents.values()])))
        self._generated: Any = lru_cache(8)(self._generate)

    def query(self, text: str) -> Query:
        """The encoded question, truncated so that it fits into the retriever's input."""
        query = self.lookup.queries([text])[0]
        return query._replace(tokens=query.tokens[:self._retriever.query_network.config.time - ENDS])

    def checked(self, text: str, max_tokens: int) -> tuple[Query, str]:
        """The question, and a note on out-of-vocabulary tokens. Raises ValueError if it is empty, contains special
        tokens, or is longer than ``max_tokens`` or than the model can use."""
        vocab, typed = self.tokenizer.vocab, self.tokenizer.encode(text)
        if not typed:
            raise empty("question")
        own = [id for id in typed if id in vocab.special and id != vocab.unk]
        if own:
            raise ValueError(f"The question contains {self.tokenizer.tokens(own)[0]}: type words only, because the "
                             "model generates the whole answer. The previous result is still shown.")
        query = self.lookup.queries([text])[0]
        length, room = max(len(typed), len(query.tokens)), min(
            max_tokens, self._retriever.query_network.config.time - ENDS,
            self.lookup.model.config.time - ENDS - self.longest)
        if length > room:
            raise ValueError(f"The question has {length} tokens, but there is room for {max(room, 0)}: shorten it. "
                             "The previous result is still shown.")
        return query, unknown(sum(id == vocab.unk for id in typed))

    def check_room(self, documents: Sequence[Block], query: Query) -> str:
        """A note on out-of-vocabulary tokens in the ``documents`` that the user wrote; "" if there are none. Raises
        ValueError if one does not fit into the retriever's input, or into the generator's with the question."""
        inputs = self._inputs(documents)
        room = min(self._retriever.document_network.config.time - SPECIAL,
                   self.lookup.model.config.time - ENDS - len(query.tokens))
        for block, ids in zip(documents, inputs, strict=True):
            check_length(block, len(ids), room)
        return unknown_written(sum(id == self.tokenizer.vocab.unk for ids in inputs for id in ids))

    def always_shown(self, query: Query, correct: Ids, typed: str) -> tuple[tuple[Ids, ...], str]:
        """The answers that are always shown, the correct answer and the one that the user ``typed``; and a note if the
        latter is too long."""
        own = tuple(self.tokenizer.encode(typed, plain=True))
        fitting = tuple(dict.fromkeys(answer for answer in (correct, own) if 0 < len(answer) <= MOST_TOKENS))
        return fitting, "" if len(own) <= MOST_TOKENS else \
            f"Your answer has {len(own)} tokens; answers of at most {MOST_TOKENS} are shown."

    def read(self, lookup: Generator, text: str, query: Query, k: int, temperature: float, null: bool,
             also: tuple[Ids, ...]) -> Reading:
        """The most probable answers generated with the documents of ``lookup``, and those in ``also``. There is no null
        document. Raises ValueError without a document."""
        if not len(lookup.corpus.documents) - len(query.excluded):
            raise ValueError("No document is left, but the generator needs one: restore a document. "
                             "The previous result is still shown.")
        found = self._generated(lookup, text, query.excluded, k, temperature)
        wanted = tuple(dict.fromkeys([*found.answers[:MOST_ANSWERS], *found.best, *also]))
        if set(also) <= set(found.answers):
            return found.select(wanted)
        return lookup.read([text], k, temperature=temperature, also=[wanted], excluded=[query.excluded], beam=0)[0]

    def _generate(self, lookup: Generator, text: str, excluded: Ids, k: int, temperature: float) -> GeneratedAnswers:
        return lookup.read([text], k, temperature=temperature, excluded=[excluded], beam=BEAM)[0]

    @property
    def _retriever(self) -> Any:
        return self.lookup.corpus.retriever

    def _inputs(self, documents: Sequence[Block]) -> list[list[int]]:
        texts = [self.lookup.combine("", block) for block in documents]
        return self.tokenizer.encode_all(texts, plain=True) if texts else []


Queries = MaskedQueries | Questions


def queries_of(lookup: Retriever) -> Queries:
    """The queries that a model takes."""
    masked = MemoryQueries if hasattr(lookup, "kind") else MaskedQueries
    kind: Any = masked if architecture_of(lookup.model).cloze_input else Questions
    return kind(lookup)


def check_length(block: Block, length: int, room: int) -> None:
    """Raises ValueError if a document of ``length`` tokens has ``room`` for fewer."""
    if length > room:
        raise ValueError(f"The document “{block.title[:40]}” is too long: {length} tokens, but there is room for "
                         f"{max(room, 0)}. Shorten it. The previous result is still shown.")


def unknown_written(count: int) -> str:
    """The note on ``count`` out-of-vocabulary tokens in edited documents; "" if there are none."""
    return f"In the documents that you edited, {unknown(count)}" if count else ""
