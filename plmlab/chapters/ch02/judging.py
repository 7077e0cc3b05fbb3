"""Evaluation of word vectors: analogies, baselines that ignore the first pair, and nearest neighbours of the same
category."""

from collections.abc import Mapping, Sequence
from math import isnan
from statistics import fmean, median_low
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
    """Keep the analogy questions whose four words all have a vector."""
    return [question for question in questions if all(word in vectors.row for word in question)]


def answers(vectors: WordVectors, questions: Sequence[Question]) -> dict[str, float]:
    """Accuracy of several answering methods on analogies a : b = c : ?, with the words of the question excluded as
    answers. "left in" is b − a + c without this exclusion; "it is b" and "it is c" are the fractions of questions for
    which "left in" returns b or c itself.

    All words of the questions need a vector. The values are NaN if there are no questions.
    """
    indices = [[vectors.row[word] for word in question] for question in questions]
    rows = torch.tensor(indices, dtype=torch.long).reshape(-1, 4)
    a, b, c = (vectors.unit[rows[:, i]] for i in range(3))

    def nearest(points: Float[Tensor, "question model"], *, without: bool = True) -> Int[Tensor, "question"]:
        cosines = F.normalize(points, dim=-1) @ vectors.unit.T
        return (cosines.scatter(1, rows[:, :3], -torch.inf) if without else cosines).argmax(1)

    unrestricted = nearest(b - a + c, without=False)
    correct = {"b − a + c": nearest(b - a + c) == rows[:, 3], "c alone": nearest(c) == rows[:, 3],
               "b alone": nearest(b) == rows[:, 3], "b + c": nearest(b + c) == rows[:, 3],
               "left in": unrestricted == rows[:, 3], "it is b": unrestricted == rows[:, 1],
               "it is c": unrestricted == rows[:, 2]}
    return {name: hits.double().mean().item() for name, hits in correct.items()}


def mean_offset_accuracy(vectors: WordVectors, questions: Sequence[Question]) -> float:
    """Accuracy of answering with the word nearest to c plus the mean offset b − a over all pairs of the relation,
    except the pair that the question asks for.

    Vectors are normalized to unit length, and the words of the question are excluded as answers.
    """
    pairs = sorted({(question.a, question.b) for question in questions} | {(q.c, q.d) for q in questions})
    correct = 0
    for question in questions:
        steps = [vectors.unit[vectors.row[b]] - vectors.unit[vectors.row[a]] for a, b in pairs if a != question.c]
        point = vectors.unit[vectors.row[question.c]] + torch.stack(steps).mean(0)
        correct += vectors.near(point, 1, without=question[:3])[0].word == question.d
    return correct / len(questions)


def by_score(vectors: WordVectors, contexts: WordVectors, questions: Sequence[Question], *, among: Sequence[str],
             ) -> float:
    """Accuracy of answering with the word of ``among`` whose context vector has the highest dot product with the word
    vector of c."""
    candidates = contexts.only(among).matrix
    predicted = {c: among[int((candidates @ vectors[c]).argmax())] for c in {question.c for question in questions}}
    return sum(predicted[question.c] == question.d for question in questions) / len(questions)


def chance(questions: Sequence[Question]) -> float:
    """Chance level: accuracy of a random guess among the relation's answers other than b."""
    possible = {question.d for question in questions}
    return sum(1 / len(possible - {question.b}) for question in questions) / len(questions)


def world_answers(vectors: WordVectors) -> dict[str, dict[str, float]]:
    """Map each relation of the full world to the `answers` on its questions."""
    return {name: answers(vectors, known(vectors, questions))
            for name, questions in asked(related(world.full())).items()}


def answers_spread(runs: Mapping[int, dict[str, dict[str, float]]]) -> dict[str, dict[str, Any]]:
    """Aggregate ``world_answers`` over seeds: a mapping from relation and answering method to the spread of the
    accuracy.

    A relation is left out if, for some seed, it has no question whose words all have vectors.
    """
    first = next(iter(runs.values()))
    complete = [relation for relation in first if not any(isnan(share) for run in runs.values()
                                                          for share in run[relation].values())]
    return {relation: {way: seed_summary({seed: run[relation][way] for seed, run in runs.items()})
                       for way in first[relation]}
            for relation in complete}


def by_cosine_and_dot_product(vectors: WordVectors, counts: Mapping[str, int],
                              ) -> tuple[dict[str, tuple[float, int]], float]:
    """Compare each word's `NEAREST` neighbours by cosine and by dot product, for words of a known category.

    Returns measure → (fraction of neighbours that share a category with the word, median count of a neighbour), and the
    fraction of neighbours that both measures find. ``counts`` are the frequencies of words in a text.
    """
    kinds = {word: kind for word, kind in word_kinds(world.full()).items() if word in vectors.row}
    near = {measure: {word: [found.word for found in vectors.neighbours(word, NEAREST, dot=measure == "dot product")]
                      for word in kinds} for measure in ("cosine", "dot product")}
    shared = fmean(len({*near["cosine"][word]} & {*near["dot product"][word]}) / NEAREST for word in kinds)
    results = {}
    for measure, neighbours in near.items():
        pairs = [(word, other) for word, others in neighbours.items() for other in others]
        same = fmean(bool(kinds[word] & kinds.get(other, frozenset())) for word, other in pairs)
        results[measure] = same, int(median_low(counts.get(other, 0) for _, other in pairs))
    return results, shared


def mean_lengths(vectors: WordVectors, ranked: Sequence[str], bands: Sequence[tuple[int, int]]) -> list[float]:
    """Mean Euclidean length of the vectors of the words with these ranks, for each band ``ranked[low:high]``."""
    length = dict(zip(vectors.words, vectors.matrix.norm(dim=-1).tolist(), strict=True))
    return [fmean(length[word] for word in ranked[low:high]) for low, high in bands]


def same_category_rate(vectors: WordVectors, kinds: Mapping[str, frozenset[str]] | None = None) -> tuple[float, float]:
    """Fraction of a word's `NEAREST` neighbours that share a category with the word, and the same fraction for random
    neighbours.

    Only words of a known category are used, both as words and as neighbours.
    """
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
