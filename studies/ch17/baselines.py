"""Baselines for RAG on the same questions: a reader that extracts a span, and a rule.

- *REALM* (chapter 16) for open-domain question answering: the bundled REALM, fine-tuned on the questions about one
  fact. The answer to a question about two facts is not a span of any document.
- *First name*: the first name of the answer's kind in the best documents by BM25 that the question does not contain.
  The rule uses knowledge that no model is given: the kind of the answer, all names of this kind, and the two parts of
  a question about two facts, which it answers one after the other.
"""

from functools import cache
from random import Random
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch17.questions import KINDS, ONE_FACT, PhraseQuestion, documents, joined, questions
from plmlab.chapters.ch17.training import EVERY, ranking
from plmlab.checkpoints import load
from plmlab.draws import choice, shuffled
from plmlab.models.realm_open_qa import REALMForOpenQA
from plmlab.models.retrieve_and_read import TOP_K, RetrieveAndRead
from plmlab.models.text_retriever import TextCorpus
from plmlab.objectives.open_domain_qa import QuestionBatch
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study
from plmlab.train import History, fit
from plmlab.world.datasets.fact_documents import DEVELOPMENT, TEST_WORLDS, TRAINING
from plmlab.world.datasets.first_name import first_name as first_name_in
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from plmlab.world.questions.bank import Question

REALM = "REALM"
RATES, UPDATES, PILOT_UPDATES, BATCH = (6e-4, 1.2e-3, 2.4e-3), 400, 200, 16


def build(variant: str, seed: int) -> REALMForOpenQA:
    """The bundled REALM with a new span scorer."""
    torch.manual_seed(seed)
    return REALMForOpenQA.from_pretrained(load("realm-world", expect="realm")[0])


@cache
def corpus(world: int) -> TextCorpus:
    """The documents of a world, embedded by the bundled REALM."""
    realm, _ = load("realm-world", expect="realm")
    return RetrieveAndRead.of(realm, world_tokenizer(), documents(world).blocks).corpus


def batch_of(model: REALMForOpenQA, world: int, some: list[PhraseQuestion]) -> QuestionBatch:
    """Questions with the documents that the model retrieves for them, and the answer spans in these documents."""
    return model.retrieve(corpus(world), [tuple(ids(one.words)) for one in some],
                          [[tuple(ids(one.answer))] for one in some])


def learn(model: REALMForOpenQA, variant: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Fine-tune on the questions about one fact; the world changes every `EVERY` updates."""
    worlds = shuffled(Random(seed), TRAINING)

    def batch(step: int) -> QuestionBatch:
        world, rng = worlds[step // EVERY % len(worlds)], Random(f"{seed}:{step}")
        return batch_of(model, world, [choice(rng, questions(world)[ONE_FACT]) for _ in range(BATCH)])
    return fit(model, batch, steps=updates, lr=lr, warmup=updates // 10, compile=False, **options)


def exact_match(model: REALMForOpenQA, worlds: tuple[int, ...]) -> float:
    """Exact match on the questions about one fact."""
    correct = []
    for world in worlds:
        some = questions(world)[ONE_FACT]
        for first in range(0, len(some), BATCH):
            chunk = [*some[first:first + BATCH]]
            best = model.eval().best(batch_of(model, world, chunk))
            correct += [each[0].tokens == tuple(ids(one.answer)) for each, one in zip(best, chunk, strict=True)]
    return fmean(correct)


def development_score(run: Run) -> float:
    """Exact match on the development world."""
    return exact_match(run.model, (DEVELOPMENT,))


def test(run: Run) -> dict[str, float]:
    """Exact match on the test worlds."""
    return {f"{ONE_FACT}: exact match": exact_match(run.model, TEST_WORLDS)}


STUDY: Study[REALMForOpenQA] = Study(name="baselines", arms={(REALM,): RATES}, build=build, train=learn,
                                     development=development_score, test=test, updates=(UPDATES,), nothing=0.0,
                                     pilots=(9,), pilot_updates=PILOT_UPDATES)


@cache
def names(world: int, kind: str) -> frozenset[tuple[str, ...]]:
    """All answers of a kind, such as "town", to the one-hop questions about a world."""
    return frozenset(one.answer for one in documents(world).world.questions("one-hop", "train")
                     if str(one.answer_entity).startswith(f"{kind}:"))


def first_name(world: int, part: Question) -> tuple[str, ...]:
    """The first name of the answer's kind in BM25's best documents that is not in the question; none, if none is."""
    found = ranking(world).search([part.words], TOP_K).lists()[0]
    return first_name_in(part.words, (documents(world).blocks[number].text for number in found),
                         names(world, str(part.answer_entity).split(":")[0]))


def rule(world: int, question: PhraseQuestion) -> tuple[str, ...]:
    """The answers of `first_name` to the parts of a question, joined by "and"."""
    return joined(first_name(world, part) for part in question.parts)


def rule_scores() -> dict[str, float]:
    """Exact match of the rule on each kind of question about the test worlds."""
    return {f"{kind}: exact match": fmean(rule(world, one) == one.answer for world in TEST_WORLDS
                                          for one in questions(world)[kind]) for kind in KINDS}


def measure(parts: Parts) -> dict[str, Any]:
    """``REALM``: its ``lr``, the ``rates`` tried and exact match with spread; and the exact match of the ``rule``."""
    measured = STUDY.measure(parts)
    return {REALM: measured[REALM, UPDATES].as_record(), "rule": parts(rule_scores, [()])[()]}
