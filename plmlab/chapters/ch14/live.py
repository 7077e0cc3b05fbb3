"""The live training of chapter 14: both systems, on five kinds of questions about people, with one, two and three hops.
Each fact occurs in the text exactly once and verbatim, so all losses can fall to 0."""

from collections.abc import Callable
from functools import cache
from itertools import islice
from random import Random

from plmlab import world
from plmlab.chapters.ch14.gold_graphs import example
from plmlab.chapters.ch14.training import pages, training_rows
from plmlab.draws import choice
from plmlab.objectives.cognitive_graphs import CognitiveBatch
from plmlab.world.questions.bank import Question

SHAPES = ("birthplace", "spouse", "birthplace_country", "spouse_birthplace", "spouse_country")
UPDATES, BATCH, RATE, NEGATIVES = 160, 4, 2e-3, 1
"""Updates, questions per update, peak learning rate, and negative nodes of each kind per question."""


@cache
def training_questions() -> dict[str, tuple[Question, ...]]:
    """Map each kind to its training questions."""
    some = [question for kind in ("one-hop", "bridge") for question in training_rows(kind)]
    return {shape: tuple(question for question in some if question.shape == shape) for shape in SHAPES}


def batches(seed: int, time: int) -> Callable[[int], CognitiveBatch]:
    """Return a function from a step to its batch, sampled uniformly over the five kinds."""
    articles = pages("train")

    def batch(step: int) -> CognitiveBatch:
        rng = Random(f"{seed}:{step}")
        drawn = [choice(rng, training_questions()[choice(rng, SHAPES)]) for _ in range(BATCH)]
        return CognitiveBatch.of([example(question, articles, articles.tokenizer.vocab, time, rng, negatives=NEGATIVES)
                                  for question in drawn], pad=articles.tokenizer.vocab.need("pad"))
    return batch


def test_questions(hops: int, limit: int = 40) -> list[Question]:
    """Test questions of the five kinds with this number of hops, none of which occurs in training."""
    candidates = (question for kind in ("one-hop", "bridge") for question in world.full().questions(kind, "test", 0))
    return [*islice((one for one in candidates if one.shape in SHAPES and one.hops == hops), limit)]
