"""What vectors are worth: analogies beside the answers that ignore the first pair, and neighbours of one kind."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from plmlab import world
from plmlab.recipes import seed_summary
from plmlab.vectors import WordVectors
from plmlab.world.datasets.analogies import Question, asked, related
from plmlab.world.datasets.word_kinds import word_kinds

NEAREST = 10


def known(vectors: WordVectors, questions: Sequence[Question]) -> list[Question]:
    """The questions whose four words have a vector."""
    return [question for question in questions if all(word in vectors.row for word in question)]


def answers(vectors: WordVectors, questions: Sequence[Question]) -> dict[str, float]:
    """Of questions whose words all have a vector, the share that each way of answering gets right, the question's words
    left out; with them left in ("left in"), and how often b or c itself is the answer then. NaN without a question."""
    places = [[vectors.row[word] for word in question] for question in questions]
    rows = torch.tensor(places, dtype=torch.long).reshape(-1, 4)
    a, b, c = (vectors.unit[rows[:, i]] for i in range(3))

    def nearest(points: Float[Tensor, "question model"], *, without: bool = True) -> Int[Tensor, "question"]:
        found = F.normalize(points, dim=-1) @ vectors.unit.T
        return (found.scatter(1, rows[:, :3], -torch.inf) if without else found).argmax(1)

    whole = nearest(b - a + c, without=False)
    told = {"b − a + c": nearest(b - a + c) == rows[:, 3], "c alone": nearest(c) == rows[:, 3],
            "b alone": nearest(b) == rows[:, 3], "b + c": nearest(b + c) == rows[:, 3],
            "left in": whole == rows[:, 3], "it is b": whole == rows[:, 1], "it is c": whole == rows[:, 2]}
    return {name: right.double().mean().item() for name, right in told.items()}


def by_mean_step(vectors: WordVectors, questions: Sequence[Question]) -> float:
    """The share right when c is moved by the mean of b − a over all pairs of the relation but its own.

    Vectors are taken at length 1, and the question's words left out.
    """
    pairs = sorted({(question.a, question.b) for question in questions} | {(q.c, q.d) for q in questions})
    right = 0
    for question in questions:
        steps = [vectors.unit[vectors.row[b]] - vectors.unit[vectors.row[a]] for a, b in pairs if a != question.c]
        point = vectors.unit[vectors.row[question.c]] + torch.stack(steps).mean(0)
        right += vectors.near(point, 1, without=question[:3])[0].word == question.d
    return right / len(questions)


def by_score(vectors: WordVectors, contexts: WordVectors, questions: Sequence[Question], *, among: Sequence[str],
             ) -> float:
    """The share right when the answer is the word of ``among`` whose context vector has the highest dot product with
    the vector of c."""
    choices = contexts.only(among).matrix
    said = {c: among[int((choices @ vectors[c]).argmax())] for c in {question.c for question in questions}}
    return sum(said[question.c] == question.d for question in questions) / len(questions)


def chance(questions: Sequence[Question]) -> float:
    """The share of questions that a guess among the relation's other answers gets right."""
    found = {question.d for question in questions}
    return sum(1 / len(found - {question.b}) for question in questions) / len(questions)


def world_answers(vectors: WordVectors) -> dict[str, dict[str, float]]:
    """Relation of the full world → what its questions come to."""
    return {name: answers(vectors, known(vectors, questions))
            for name, questions in asked(related(world.full())).items()}


def answers_spread(runs: Mapping[int, dict[str, dict[str, float]]]) -> dict[str, dict[str, Any]]:
    """What several seeds' ``world_answers`` come to: relation → way of answering → the spread of its share; without the
    relations of which some seed's vectors can be asked nothing."""
    first = next(iter(runs.values()))
    asked_of = [relation for relation in first if not any(isnan(share) for run in runs.values()
                                                          for share in run[relation].values())]
    return {relation: {way: seed_summary({seed: run[relation][way] for seed, run in runs.items()})
                       for way in first[relation]}
            for relation in asked_of}


def kin_share(vectors: WordVectors, kinds: Mapping[str, frozenset[str]] | None = None) -> tuple[float, float]:
    """Of words of a known kind, the share of the `NEAREST` neighbours among them that have a kind in common with the
    word; and what a random neighbour would come to."""
    kinds = word_kinds(world.full()) if kinds is None else kinds
    words = [word for word in kinds if word in vectors.row]
    numbers = {kind: i for i, kind in enumerate(sorted({kind for word in words for kind in kinds[word]}))}
    member = torch.zeros(len(words), len(numbers))
    for i, word in enumerate(words):
        member[i, [numbers[kind] for kind in kinds[word]]] = 1
    kin = ((member @ member.T) > 0).double().fill_diagonal_(0)
    unit = vectors.only(words).unit
    near = (unit @ unit.T).fill_diagonal_(-torch.inf).topk(min(NEAREST, len(words) - 1)).indices
    return kin.gather(1, near).mean().item(), (kin.sum(1) / (len(words) - 1)).mean().item()
