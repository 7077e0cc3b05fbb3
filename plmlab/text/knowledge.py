"""A knowledge base as seen from a text: its entities, and a dictionary of their names, from which the candidate
mentions of a text are found by rule (KnowBERT: Peters et al. 2019, §3.2)."""

from collections.abc import Iterator, Mapping, Sequence

from plmlab.candidates import NULL, SPECIAL_ENTITIES, CandidateMention
from plmlab.example import IGNORE
from plmlab.text.gazetteer import Gazetteer
from plmlab.text.tokenizers import Tokenizer

CANDIDATES = 30
"""Maximum number of candidate entities per mention, without NULL; as in the authors' code."""

Links = Mapping[tuple[int, int], str]
"""Span of a mention (start, end) → the key of the entity that it names."""


class KnowledgeBase(Gazetteer):
    """The entities of a knowledge base, and a dictionary of names.

    ``names`` maps a name, as it is written in a text, to the keys of the entities that it may denote, each with a
    weight, such as its count in a corpus. The prior probability p(entity | name) of a candidate is its share of the
    weights. NULL, the key None, may have a weight as well; by default it is 0.

    Raises ValueError for a duplicate entity, and for a name without an entity, with an unknown one, or without a
    positive weight.
    """

    def __init__(self, entities: Sequence[str], names: Mapping[str, Mapping[str | None, float]], tokenizer: Tokenizer,
                 ) -> None:
        self.entities = tuple(entities)
        self.ids: dict[str | None, int] = {key: i for i, key in enumerate(self.entities, SPECIAL_ENTITIES)}
        if len(self.ids) != len(self.entities):
            twice = next(key for i, key in enumerate(self.entities, SPECIAL_ENTITIES) if self.ids[key] != i)
            raise ValueError(f"the entity {twice!r:.60} occurs twice; each entity must occur once")
        self.ids[None] = NULL
        unk = tokenizer.vocab.unk
        known = {name: weights for name, weights in names.items() if unk not in tokenizer.encode(name, plain=True)}
        super().__init__({name: name for name in known}, tokenizer)
        self._candidates = {name: self._ranked(name, weights) for name, weights in known.items()}

    def __len__(self) -> int:
        """The number of entities, with the special ones."""
        return SPECIAL_ENTITIES + len(self.entities)

    def key(self, id: int) -> str | None:
        """The key of the entity with this id; None for NULL and MASK."""
        return self.entities[id - SPECIAL_ENTITIES] if id >= SPECIAL_ENTITIES else None

    def mentions(self, tokens: Sequence[int], links: Links | None = None, unlinked: int = IGNORE,
                 ) -> tuple[CandidateMention, ...]:
        """The candidate mentions of a text, by start and then by end; they may overlap.

        A mention is each sequence of tokens that is a name in the dictionary and does not end within a word, or that
        the text knows as one of its ``entities``. Its candidates are the entities of this name, at most `CANDIDATES`,
        in descending order of their priors, and NULL at the end. ``links`` gives the gold entities of some mentions;
        all others have the gold entity ``unlinked``: IGNORE if it is not known, or NULL if they name none.

        Raises ValueError if a gold entity is unknown.
        """
        gold = {span: self._id(key, "links") for span, key in (links or {}).items()}
        ids = [*tokens]  # slices of a `Text` would copy its spans
        return tuple(CandidateMention(start, end, *self._candidates[str(self.find(tokens[start:end]))],
                             gold.get((start, end), unlinked))
                     for start, end in sorted({*self._occurrences(ids), *self._entities(tokens)}))

    def _occurrences(self, ids: Sequence[int]) -> Iterator[tuple[int, int]]:
        """All names in these ids, which may overlap. The paper considers all spans, not only the longest names."""
        for start in range(len(ids)):
            for end in range(start + 1, min(len(ids), start + self._longest) + 1):
                if self.find(ids[start:end]) and self._whole(ids[end:end + 1]):
                    yield start, end

    def _entities(self, ids: Sequence[int]) -> Iterator[tuple[int, int]]:
        """The known entities of a text whose name is in the dictionary."""
        return ((start, end) for start, end in getattr(ids, "entities", None) or () if self.find(ids[start:end]))

    def _id(self, key: str | None, where: str) -> int:
        if key not in self.ids:
            raise ValueError(f"{where} has the entity {key!r:.60}, which is not among the {len(self.entities):,} "
                             "entities of this knowledge base")
        return self.ids[key]

    def _ranked(self, name: str, weights: Mapping[str | None, float]) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Candidates in descending order of their weights, equal ones in the given order, and their priors."""
        null, own = weights.get(None, 0.0), {key: weight for key, weight in weights.items() if key is not None}
        kept = [*sorted(own.items(), key=lambda item: -item[1])[:CANDIDATES], (None, null)]
        total = sum(weight for _, weight in kept)
        if not own or total <= 0 or min(weight for _, weight in kept) < 0:
            raise ValueError(f"the name {name!r:.60} has the weights {dict(weights)!s:.80}; give at least one entity, "
                             "weights that are not negative, and a positive sum")
        return (tuple(self._id(key, f"the name {name!r:.60}") for key, _ in kept),
                tuple(weight / total for _, weight in kept))
