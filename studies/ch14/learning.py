"""How a CogQA learns from the world's questions (Ding et al. 2019, §3.4): all of a question's nodes at once, both
systems together.

The authors train System 1 first, on single nodes, and both systems then; here both learn from the first update on. Five
in eight questions compare, for comparisons take longest to learn: what System 1 points at is found in a few hundred
updates, and then System 2 has to learn from the outcomes alone which of two years is the earlier one. For the same
reason its loss weighs as much as the others (`alpha` 1 for the authors' 0.2).
"""

from collections.abc import Callable
from random import Random
from typing import Any

from plmlab.chapters.ch14.gold_graphs import example
from plmlab.chapters.ch14.training import KINDS, pages, pretrained, training_rows
from plmlab.draws import choice, randint
from plmlab.models.cogqa import CogQA
from plmlab.objectives.cognitive_graphs import CognitiveBatch
from plmlab.text import Tokenizer
from plmlab.train import History, fit
from plmlab.world.questions.bank import Question

BATCH, UPDATES, RATE = 32, 1400, 1e-3
"""Questions an update, which is some 210 nodes; updates; the highest learning rate."""
ALPHA = 1.0
"""How much System 2's loss weighs."""


def drawn(seed: int, step: int) -> tuple[Random, list[Question]]:
    """The questions of an update, drawn with replacement, and the source of all else that is random in it."""
    rng = Random(f"{seed}:{step}")
    kinds = [training_rows(choice(rng, KINDS)) for _ in range(BATCH)]
    return rng, [some[randint(rng, len(some))] for some in kinds]


def batches(seed: int, time: int, tokenizer: Tokenizer | None = None, clues: bool = True,
            ) -> Callable[[int], CognitiveBatch]:
    """Step → its questions with negatives; texts of ``time`` positions at most, in the ids of `pages`; with ``clues``,
    or without any."""
    told = pages("train", tokenizer)
    vocab = told.tokenizer.vocab

    def batch(step: int) -> CognitiveBatch:
        rng, questions = drawn(seed, step)
        return CognitiveBatch.of([example(question, told, vocab, time, rng, clues) for question in questions],
                                 pad=vocab.need("pad"))
    return batch


def on_pretrained(kind: type[CogQA] = CogQA) -> CogQA:
    """A CogQA that knows nothing of questions, on the course's BERT."""
    return kind.from_pretrained(pretrained(), alpha=ALPHA)


def learn(model: CogQA, updates: int, lr: float, seed: int, tokenizer: Tokenizer | None = None, clues: bool = True,
          **options: Any) -> History:
    """Train both systems on texts in the ids of a tokenizer; ``options`` go to `fit`. Nothing is compiled, since no two
    batches have one shape."""
    drawn = batches(seed, model.encoder.config.time, tokenizer, clues)
    return fit(model, drawn, steps=updates, lr=lr, warmup=updates // 10, compile=False, **options)
