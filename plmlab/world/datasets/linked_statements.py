"""The statements of a world with linked names, divided so that every fact that a test cloze asks for is stated in the
training text in other words."""

import hashlib
from collections.abc import Sequence
from functools import cache, cached_property
from random import Random
from typing import NamedTuple

from plmlab.batches import ExampleBatches
from plmlab.draws import choice
from plmlab.example import Example
from plmlab.objectives.entity_mentions import masked_mention
from plmlab.text import Tokenizer
from plmlab.text.text import spans
from plmlab.world.datasets.linked_texts import LinkedText, entity_ids, linked_text, names
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.questions.cloze import Cloze
from plmlab.world.world import World, full

TRAIN, DEVELOPMENT, TEST = SPLITS = "train", "development", "test"
TEST_PERCENT, HELD_OUT_PERCENT = 15, 20
"""Percentage of the sentences that are test sentences, and that are test or development sentences."""
BATCH = 64


class EntityCloze(NamedTuple):
    """A statement and the index of the mention that is masked. ``relation`` is that of the fact that determines the
    masked entity, and ``place`` tells whether the entity is the "subject" or the "object" of the fact."""

    text: LinkedText
    mention: int
    relation: str
    place: str

    @property
    def span(self) -> tuple[int, int]:
        """The tokens of the mention, (start, end) with exclusive end."""
        return spans(self.text.text, "entities", "a cloze")[self.mention]

    @property
    def entity(self) -> int:
        """The masked entity."""
        return self.text.links[self.mention]


def split_of(words: Sequence[str]) -> str:
    """The split of a sentence, which is decided by a hash of its words."""
    code = int.from_bytes(hashlib.sha256(" ".join(words).encode()).digest()[:4], "big") % 100
    return TEST if code < TEST_PERCENT else DEVELOPMENT if code < HELD_OUT_PERCENT else TRAIN


class Statements:
    """The sentences of a world's grammar that state facts about exactly two names.

    ``ids`` maps the key of an entity to its id; the ``tokenizer`` has one token per word.
    """

    def __init__(self, world: World, tokenizer: Tokenizer) -> None:
        self.world, self.tokenizer, self.ids = world, tokenizer, entity_ids(world)
        self._texts = {one.words: linked_text(world, [one], self.ids, tokenizer)
                       for one in world.clozes.stated(TRAIN) if one.facts and len([*names(world, one)]) == 2}

    @cached_property
    def texts(self) -> list[LinkedText]:
        """The training text, one sentence each."""
        return [text for words, text in self._texts.items() if split_of(words) == TRAIN]

    @cached_property
    def names(self) -> list[list[int]]:
        """The tokens of each entity's name, in the order of the ids."""
        return self.tokenizer.encode_all([self.world.facts[key].name for key in self.ids], plain=True)

    @cached_property
    def clozes(self) -> dict[str, list[EntityCloze]]:
        """Split → its sentences with one masked name, which a fact determines. For development and test sentences,
        there are training sentences that state the same fact and in which the same name can be masked."""
        found: dict[str, dict[object, Cloze]] = {split: {} for split in SPLITS}
        for cloze in self.world.cloze(TRAIN):
            if cloze.words in self._texts and cloze.entity in self.ids:
                found[split_of(cloze.words)][cloze.words, cloze.span] = cloze
        stated = {(cloze.fact, cloze.entity) for cloze in found[TRAIN].values()}
        return {split: [self._linked(cloze) for cloze in some.values() if (cloze.fact, cloze.entity) in stated]
                for split, some in found.items()}

    def _linked(self, cloze: Cloze) -> EntityCloze:
        text = self._texts[cloze.words]
        place = "object" if cloze.entity == cloze.fact.object else "subject"
        return EntityCloze(text, spans(text.text, "entities", "a cloze").index(cloze.span), cloze.fact.relation, place)

    def batches(self, seed: int) -> ExampleBatches:
        """Batches of training sentences, in each of which one mention is masked."""
        def draw(rng: Random) -> list[Example]:
            return [masked_mention(text, links=links, vocab=self.tokenizer.vocab, rng=rng)
                    for text, links in (choice(rng, self.texts) for _ in range(BATCH))]

        return ExampleBatches(draw, seed, self.tokenizer.vocab.need("pad"))


@cache
def statements() -> Statements:
    """The statements of the full world."""
    return Statements(full(), world_tokenizer())
