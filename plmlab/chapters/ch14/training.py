"""Training and development questions for CogQA and its baselines, and the BERT with which all of them are initialized.
"""

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
"""Kinds of question, sampled uniformly from this tuple."""
MOST, DEVELOPMENT, SEED = 40_000, 60, 0
"""Maximum number of questions per kind; how many of these are for development; the seed of their order."""

@cache
def pages(split: str, tokenizer: Tokenizer | None = None) -> ArticlePages:
    """The articles that answer the questions of a split, encoded with a tokenizer (word-level by default)."""
    return ArticlePages(world.full(), split, tokenizer or world_tokenizer())


@cache
def _known(kind: str) -> tuple[Question, ...]:
    return tuple(islice(world.full().questions(kind, "train", SEED), MOST))


def training_rows(kind: str) -> tuple[Question, ...]:
    """Training questions of a kind."""
    return _known(kind)[:-DEVELOPMENT]


def development(kind: str) -> tuple[Question, ...]:
    """Development questions of a kind: about the same text as the training questions, but disjoint from them."""
    return _known(kind)[-DEVELOPMENT:]


def pretrained() -> BERT:
    """The bundled BERT, pretrained on the full world."""
    model, _ = load(PRETRAINED, expect="bert-pretraining")
    return model.encoder
