"""How many of the questions of `studies.ch18.kbqa` does FaE answer? A measurement, not the test of a claim.

FaE does not read questions; it predicts a masked entity. Instead of each question with a full name, it gets a statement
of the same fact in which the asked entity is masked: the sentence that `FactWorld.test` keeps out of the training text.
A question whose answer is a value, such as a year or a craft, can't be asked, because FaE has vectors for entities
only; neither can one whose fact has no such sentence. These count as not answered.

One FaE is trained on each test world, as in `studies.ch18.edits` in one world with nothing left out, with the learning
rate that was chosen there. In addition, the memory has the inverse of each fact, so that a masked subject can be found.
At inference the memory has all facts, as the knowledge base has.

This differs from the other systems in three ways. The training text states most facts of the test world itself, so
that the weights can memorize them. The spans of the names are given. The statement may contain more than the question,
whose wording plays no role. The spread is that over worlds.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from statistics import fmean
from typing import Any

from plmlab.chapters.ch18.fact_edits import answers
from plmlab.chapters.ch18.fact_training import ONE, build, train
from plmlab.models.fae import FaE
from plmlab.recipes import Parts, seed_statistics
from plmlab.retrieval.facts import Fact
from plmlab.world.datasets.changed_documents import Changes
from plmlab.world.datasets.entity_questions import EntityQuestion
from plmlab.world.datasets.fact_worlds import FactStatement, FactWorld
from plmlab.world.datasets.linked_texts import RELATIONS, names, with_inverses
from plmlab.world.facts.relations import Triple
from studies.ch18.edits import STUDY, UPDATES, WORLDS
from studies.ch18.kbqa import questions

ARM = (ONE, 0.0)


class BothDirections(FactWorld):
    """A world whose memory also has the inverse of each fact."""

    def memory(self, changes: Changes | None = None, without: Collection[str] = ()) -> list[Fact]:
        """The facts of `FactWorld.memory` and their inverses."""
        return with_inverses(self.world, super().memory(changes, without))


@cache
def both_directions(seed: int) -> BothDirections:
    """The world with this seed."""
    return BothDirections(seed)


def fact(question: EntityQuestion) -> Triple:
    """The fact that a question asks for."""
    name = question.relation.removeprefix("~")
    subject, target = (question.entity, question.answer)[::1 if name == question.relation else -1]
    return Triple(subject, name, target)


def key(world: FactWorld, question: EntityQuestion) -> tuple[int, int]:
    """The key of this fact in the memory: the ids of the named entity and of the relation or its inverse."""
    inverse = len(RELATIONS) * question.relation.startswith("~")
    return world.ids[question.entity], inverse + RELATIONS.index(fact(question).relation)


def statement(world: FactWorld, question: EntityQuestion) -> FactStatement | None:
    """The test sentence that states the fact of a question, with the answer as the masked name; None if there is no
    such sentence."""
    asked = fact(question)
    plain = world.documents.plain(asked)
    for one in world.test:
        if world.documents.plain(one.fact) == plain:
            found = [each.entity for each in names(world.world, one.sentence)]
            return FactStatement(asked, one.sentence, found.index(question.answer))
    return None


def learned(seed: int, lr: float) -> FaE:
    """A FaE, trained on the world of this seed."""
    world = both_directions(WORLDS[seed])
    model = FaE(replace(build(world, seed).config, relations=2 * len(RELATIONS)))
    train(model, world, *ARM, UPDATES, lr, seed, show=False)
    return model


def figures(model: FaE, world: FactWorld, some: list[EntityQuestion]) -> dict[str, float]:
    """The fraction of the questions that can be ``asked``; the fractions of correct answers to ``all`` questions and to
    those whose ``answer is a name``; and, of those asked, the accuracy (``asked, correct``), also by the group of the
    fact and for the ``subject`` of a fact, and the fraction whose fact is the best one (``fact first``)."""
    asked = {one: made for one in some if (made := statement(world, one)) is not None}
    found = dict(zip(asked, answers(model, world, [*asked.values()], world.memory()), strict=True))
    values = defaultdict[str, list[bool]](list)
    for one in some:
        correct = one in found and found[one].entity.key == one.answer
        values["asked"].append(one in found)
        values["all"].append(correct)
        if one.answer in world.ids:
            values["answer is a name"].append(correct)
        if one in found:
            values["asked, correct"].append(correct)
            values[world.group(fact(one))].append(correct)
            values["fact first"].append(found[one].found(key(world, one), 1))
            if one.relation.startswith("~"):
                values["subject"].append(correct)
    return {name: fmean(each) for name, each in values.items()}


def test(seed: int, lr: float) -> dict[str, float]:
    """The `figures` of the FaE of a seed on the questions about its world."""
    return figures(learned(seed, lr), both_directions(WORLDS[seed]), [*questions(WORLDS[seed])])


def measure(parts: Parts) -> dict[str, Any]:
    """The learning rate ``lr`` and the `figures`, with spread."""
    (lr, _), = STUDY.best(parts, [(*ARM, UPDATES)]).values()
    found = parts(test, [(seed, lr) for seed in STUDY.seeds])
    return {"lr": lr, **seed_statistics({seed: found[seed, lr] for seed in STUDY.seeds})}
