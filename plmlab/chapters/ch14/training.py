"""The world's questions that CogQA and its rivals learn from, those to choose by, and the BERT that all begin with."""

from functools import cache
from itertools import islice

from plmlab import world
from plmlab.checkpoints import load
from plmlab.models.bert import BERT
from plmlab.text import Tokenizer
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.questions.bank import Question

PRETRAINED = "bert-world"
KINDS = ("one-hop", "bridge", "bridge", *5 * ("comparison",))
"""Each as likely."""
MOST, DEVELOPMENT, SEED = 40_000, 60, 0
"""So many questions of a kind at most; so many of these to choose by; the seed of their order."""

@cache
def pages(split: str, tokenizer: Tokenizer | None = None) -> ArticlePages:
    """The articles in which the questions of a split are answered, in the ids of a tokenizer; by default a word each.
    """
    return ArticlePages(world.full(), split, tokenizer or world_tokenizer())


@cache
def _known(kind: str) -> tuple[Question, ...]:
    return tuple(islice(world.full().questions(kind, "train", SEED), MOST))


def training_rows(kind: str) -> tuple[Question, ...]:
    """The questions of a kind to learn from."""
    return _known(kind)[:-DEVELOPMENT]


def development(kind: str) -> tuple[Question, ...]:
    """Those of the same text to choose by, none of which is learned from."""
    return _known(kind)[-DEVELOPMENT:]


def pretrained() -> BERT:
    """The course's BERT of the full world."""
    found, _ = load(PRETRAINED, expect="bert-pretraining")
    return found.encoder
