"""Small EaE and FaE models, and texts with linked mentions, for their tests."""

from dataclasses import replace
from random import Random

from realm_small import scattered
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch, Example
from plmlab.models.eae import EaEConfig, EaEPretraining
from plmlab.models.fae import FaE, FaEConfig
from plmlab.objectives import always_mask, entity_mentions
from plmlab.text import Text
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)
ENTITIES, RELATIONS = 9, 4
SIZE = FaEConfig(90, time=24, layers=3, model=12, heads=3, inner=20, dropout=0.0, attention_dropout=0.0,
                 entities=ENTITIES, entity_width=5, memory_after=2, top_k=3, relations=RELATIONS, top_k_facts=2)
EAE = EaEConfig(**{name: value for name, value in vars(SIZE).items() if name not in ("relations", "top_k_facts")})
TEXTS = [
    (Text(range(40, 51), entities=[(0, 2), (4, 5), (8, 11)]), [3, 6, 1], [1]),
    (Text(range(60, 65), entities=[(1, 4)]), [2], [0, 1]),
    (Text(range(70, 77), entities=[]), [], [3]),
    (Text(range(45, 54), entities=[(0, 1), (3, 4), (6, 7), (8, 9)]), [5, IGNORE, 3, 0], [0, 3]),
]
"""Texts with three, one, no and four mentions, their links, and the units that are masked."""


def examples() -> list[Example]:
    return [entity_mentions(text, vocab=VOCAB, rng=Random(0), links=links, select=select, corrupt=always_mask)
            for text, links, select in TEXTS]


def eae() -> EaEPretraining:
    return scattered(EaEPretraining(EAE))


def fae() -> FaE:
    """With weights for which mentions retrieve different facts."""
    return scattered(FaE(SIZE), 14)


def padded_left(batch: Batch, count: int) -> Batch:
    """The batch with more padding, on the left; the positions of its tokens stay what they are."""
    def pad(t: Tensor, fill: int) -> Tensor:
        return nn.functional.pad(t, (count, 0), value=fill)
    rows = batch.padding_mask
    return replace(batch, tokens=pad(batch.tokens, 0), position_ids=pad(batch.position_ids, 0),
                   segments=pad(batch.segments, 0), targets=pad(batch.targets, IGNORE),
                   visible=replace(batch.visible, keys=nn.functional.pad(rows, (count, 0), value=False)),
                   labels={name: pad(label, IGNORE) for name, label in batch.labels.items()})


def unlabelled(batch: Batch) -> Batch:
    return replace(batch, labels={})

