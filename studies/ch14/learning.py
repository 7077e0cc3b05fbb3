"""Training of CogQA on the questions of the world (Ding et al. 2019, §3.4), with all nodes of a question at once and
both systems jointly.

The authors first train System 1 on single nodes, and then both systems; here both are trained from the first update on.
Five of eight questions are comparisons, because these take longest to learn: System 1 learns its spans in a few hundred
updates, and then System 2 has to learn which of two years is the earlier one, from the outcomes alone. For the same
reason the loss of System 2 has the same weight as the others (`alpha` is 1 instead of the authors' 0.2).
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
"""Questions per update, which have about 210 nodes; updates; the peak learning rate."""
ALPHA = 1.0
"""Weight of System 2's loss."""


def sample_questions(seed: int, step: int) -> tuple[Random, list[Question]]:
    """The questions of an update, sampled with replacement, and the random generator for the other samples of this
    update."""
    rng = Random(f"{seed}:{step}")
    kinds = [training_rows(choice(rng, KINDS)) for _ in range(BATCH)]
    return rng, [some[randint(rng, len(some))] for some in kinds]


def batches(seed: int, time: int, tokenizer: Tokenizer | None = None, clues: bool = True,
            ) -> Callable[[int], CognitiveBatch]:
    """Return a function from a step to its questions with negative nodes; inputs have at most ``time`` positions, are
    encoded as in `pages`, and are with or without ``clues``."""
    articles = pages("train", tokenizer)
    vocab = articles.tokenizer.vocab

    def batch(step: int) -> CognitiveBatch:
        rng, questions = sample_questions(seed, step)
        return CognitiveBatch.of([example(question, articles, vocab, time, rng, clues) for question in questions],
                                 pad=vocab.need("pad"))
    return batch


def on_pretrained(kind: type[CogQA] = CogQA) -> CogQA:
    """A CogQA initialized with the bundled BERT, not yet trained on questions."""
    return kind.from_pretrained(pretrained(), alpha=ALPHA)


def learn(model: CogQA, updates: int, lr: float, seed: int, tokenizer: Tokenizer | None = None, clues: bool = True,
          **options: Any) -> History:
    """Train both systems on texts encoded with a tokenizer; ``options`` are passed to `fit`. The model is not compiled,
    because no two batches have the same shape."""
    batch = batches(seed, model.encoder.config.time, tokenizer, clues)
    return fit(model, batch, steps=updates, lr=lr, warmup=updates // 10, compile=False, **options)
