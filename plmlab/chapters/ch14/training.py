"""How a CogQA learns from the world's questions (Ding et al. 2019, §3.4): all of a question's nodes at once, both
systems together.

The authors train System 1 first, on single nodes, and both systems then; here both learn from the first update on. Half
of the questions are bridges, a quarter ask for one hop, a quarter compare.
"""

from collections.abc import Callable
from functools import cache
from itertools import islice
from random import Random
from typing import Any

from plmlab import world
from plmlab.chapters.ch14.gold_graphs import example
from plmlab.checkpoints import load
from plmlab.draws import below, pick
from plmlab.models.cogqa import CogQA
from plmlab.objectives.cognitive_graphs import CognitiveBatch
from plmlab.text import Tokenizer
from plmlab.train import History, fit
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.datasets.tokenizer import spelling
from plmlab.world.questions.bank import Question

PRETRAINED = "bert-world"
KINDS = ("one-hop", "bridge", "bridge", "comparison")
"""Each as likely."""
MOST, DEVELOPMENT, SEED = 2000, 60, 0
"""So many questions of a kind at most; so many of these to choose by; the seed of their order."""
BATCH = 8
"""Questions an update; some 50 nodes."""


@cache
def pages(split: str, tokenizer: Tokenizer | None = None) -> ArticlePages:
    """The articles in which the questions of a split are answered, in the ids of a tokenizer; by default a word each.
    """
    return ArticlePages(world.full(), split, tokenizer or spelling())


@cache
def _known(kind: str) -> tuple[Question, ...]:
    return tuple(islice(world.full().questions(kind, "train", SEED), MOST))


def labelled(kind: str) -> tuple[Question, ...]:
    """The questions of a kind to learn from."""
    return _known(kind)[:-DEVELOPMENT]


def development(kind: str) -> tuple[Question, ...]:
    """Those of the same text to choose by, none of which is learned from."""
    return _known(kind)[-DEVELOPMENT:]


def batches(seed: int, time: int, tokenizer: Tokenizer | None = None) -> Callable[[int], CognitiveBatch]:
    """Step → its questions with negatives, drawn with replacement; texts of ``time`` slots at most, in the ids of
    `pages`."""
    told = pages("train", tokenizer)
    vocab = told.tokenizer.vocab

    def batch(step: int) -> CognitiveBatch:
        rng, drawn = Random(f"{seed}:{step}"), []
        for _ in range(BATCH):
            some = labelled(pick(rng, KINDS))
            drawn.append(example(some[below(rng, len(some))], told, vocab, time, rng))
        return CognitiveBatch.of(drawn, pad=vocab.need("pad"))
    return batch


def on_pretrained(kind: type[CogQA] = CogQA) -> CogQA:
    """A CogQA that knows nothing of questions, on the course's BERT."""
    bert, _ = load(PRETRAINED, expect="bert-pretraining")
    return kind.on(bert.bert)


def learn(model: CogQA, updates: int, lr: float, seed: int, tokenizer: Tokenizer | None = None, **options: Any,
          ) -> History:
    """Train both systems on texts in the ids of a tokenizer; ``options`` go to `fit`."""
    return fit(model, batches(seed, model.config.time, tokenizer), steps=updates, lr=lr, warmup=updates // 10,
               **options)
