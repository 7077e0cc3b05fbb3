"""Wrong answers to the exercise 14.6, HotpotQA's joint F1, under the names of their mistakes."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from plmlab.exercises.mistakes import Mistakes

Fact = tuple[str, int]
Facts = list[Fact]
SURE = ("yes", "no")
Score = Callable[[str, str, Facts, Facts], float]


@dataclass(frozen=True)
class Counts:
    """How much is shared, given and right."""

    shared: int
    given: int
    right: int

    @property
    def precision(self) -> float:
        """The share of the given that is right; 0 where nothing is given."""
        return self.shared / self.given if self.given else 0.0

    @property
    def recall(self) -> float:
        """The share of the right that is given."""
        return self.shared / self.right

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return harmonic(self.precision, self.recall)


def harmonic(one: float, other: float) -> float:
    """The harmonic mean; 0 where both are."""
    return 2 * one * other / (one + other) if one + other else 0.0


def split_words(answer: str, gold: str) -> Counts:
    """The words, yes and no like any other."""
    given, right = answer.split(), gold.split()
    return Counts(sum(min(given.count(word), right.count(word)) for word in {*given}), len(given), len(right))


def sure(answer: str, gold: str) -> bool:
    """Whether one is yes or no, and the other something else."""
    return answer != gold and bool({answer, gold} & {*SURE})


def unless_sure(count: Callable[[str, str], Counts]) -> Callable[[str, str], Counts]:
    """What is counted, unless one is yes or no, and the other something else."""
    return lambda answer, gold: Counts(0, 1, 1) if sure(answer, gold) else count(answer, gold)


words_or_sure = unless_sure(split_words)
"""The words, as the exercise counts them."""


def in_sets(found: Facts, supporting: Facts) -> Counts:
    """The sentences, each once."""
    return Counts(len({*found} & {*supporting}), len({*found}), len({*supporting}))


def once(answer: str, gold: str) -> Counts:
    """The different words."""
    given, right = {*answer.split()}, {*gold.split()}
    return Counts(len(given & right), len(given), len(right))


def signs(answer: str, gold: str) -> Counts:
    """The letters and spaces."""
    return Counts(sum(min(answer.count(sign), gold.count(sign)) for sign in {*answer}), len(answer), len(gold))


def not_clipped(answer: str, gold: str) -> Counts:
    """Each given word that stands in the right answer, as often as it is given."""
    given, right = answer.split(), gold.split()
    return Counts(sum(word in right for word in given), len(given), len(right))


def in_places(answer: str, gold: str) -> Counts:
    """The words that stand in the same place."""
    given, right = answer.split(), gold.split()
    return Counts(sum(map(str.__eq__, given, right)), len(given), len(right))


def exactly(answer: str, gold: str) -> Counts:
    """All or nothing."""
    return Counts(int(answer == gold), 1, 1)


def as_lists(found: Facts, supporting: Facts) -> Counts:
    """The sentences, as often as they are given."""
    return Counts(sum(one in supporting for one in found), len(found), len(supporting))


def shared_once(found: Facts, supporting: Facts) -> Counts:
    """The sentences, of which those that are shared count once and those that are given each time."""
    return Counts(len({*found} & {*supporting}), len(found), len(supporting))


def part(which: int) -> Callable[[Facts, Facts], Counts]:
    """The titles of the sentences, or their numbers."""
    return lambda found, supporting: in_sets([(str(one[which]), 0) for one in found],
                                             [(str(one[which]), 0) for one in supporting])


def all_of_them(found: Facts, supporting: Facts) -> Counts:
    """All or nothing."""
    return Counts(int({*found} == {*supporting}), 1, 1)


def joined(one: Counts, other: Counts) -> float:
    """The F1 of the products."""
    return harmonic(one.precision * other.precision, one.recall * other.recall)


def scoring(
    join: Callable[[Counts, Counts], float] = joined, *,
    answers: Callable[[str, str], Counts] = words_or_sure,
    facts: Callable[[Facts, Facts], Counts] = in_sets,
) -> Score:
    """The exercise's function with another way to join what is counted of words and sentences, or to count them."""
    return lambda answer, gold, found, supporting: join(answers(answer, gold), facts(found, supporting))


def by_given(one: Counts, other: Counts) -> float:
    """The same, divided by how much is given, though it may be nothing."""
    return harmonic(one.shared / one.given * other.shared / other.given, one.recall * other.recall)


def by_sum(one: Counts, other: Counts) -> float:
    """The same, divided by precision and recall together, though both may be 0."""
    precision, recall = one.precision * other.precision, one.recall * other.recall
    return 2 * precision * recall / (precision + recall)


def shared_words_once(answer: str, gold: str) -> Counts:
    """The words, of which those that are shared count once and all others each time."""
    given, right = answer.split(), gold.split()
    return Counts(len({*given} & {*right}), len(given), len(right))


def only_given(answer: str, gold: str) -> Counts:
    """A given yes or no, if it is not right, shares nothing; a right one may."""
    return Counts(0, 1, 1) if answer != gold and answer in SURE else split_words(answer, gold)


def any_yes(answer: str, gold: str) -> Counts:
    """Nothing is shared as soon as a yes or no is among the words, and they are not equal."""
    there = {*answer.split(), *gold.split()} & {*SURE}
    return Counts(0, 1, 1) if answer != gold and there else split_words(answer, gold)


JOINT: Mistakes = {
    "the two F1 are multiplied; first the precisions are, and the recalls": scoring(
        lambda one, other: one.f1 * other.f1),
    "the mean of the two F1 is given: half of it can be had for the answer alone": scoring(
        lambda one, other: (one.f1 + other.f1) / 2),
    "the harmonic mean of the two F1 is given; first the precisions are multiplied, and the recalls": scoring(
        lambda one, other: harmonic(one.f1, other.f1)),
    "the smaller of the two F1 is given": scoring(lambda one, other: min(one.f1, other.f1)),
    "the sentences are not asked: this is the F1 of the answer": scoring(lambda one, other: one.f1),
    "the answer is not asked: this is the F1 of the sentences": scoring(lambda one, other: other.f1),
    "this is the joint precision": scoring(lambda one, other: one.precision * other.precision),
    "this is the joint recall": scoring(lambda one, other: one.recall * other.recall),
    "precisions and recalls are crossed: precision goes with precision": scoring(
        lambda one, other: harmonic(one.precision * other.recall, one.recall * other.precision)),
    "precisions are added up, and recalls, in place of multiplied: (a + b) / 2": scoring(
        lambda one, other: harmonic((one.precision + other.precision) / 2, (one.recall + other.recall) / 2)),
    "words and sentences are counted together, as if they were of one kind": scoring(
        lambda one, other: Counts(one.shared + other.shared, one.given + other.given, one.right + other.right).f1),
    "this is the plain mean of precision and recall; F1 is the harmonic one": scoring(
        lambda one, other: (one.precision * other.precision + one.recall * other.recall) / 2),
    "this is the geometric mean of precision and recall; F1 is the harmonic one": scoring(
        lambda one, other: sqrt(one.precision * other.precision * one.recall * other.recall)),
    "this is the product of precision and recall; F1 is 2 · P · R / (P + R)": scoring(
        lambda one, other: one.precision * other.precision * one.recall * other.recall),
    "P + R needs parentheses: / binds before +": scoring(
        lambda one, other: 2 * one.recall * other.recall + one.recall * other.recall),
    "the 2 of the F1 is missing": scoring(lambda one, other: joined(one, other) / 2),
    "it is divided by 0 where nothing is right": scoring(by_sum),
    "shared words count once each, though a word counts as often as it stands in both": scoring(
        answers=unless_sure(shared_words_once)),
    "it is divided by 0 where nothing is given: no word, or no sentence": scoring(by_given),
    "the answer counts as right or wrong (exact match), not by its words": scoring(answers=exactly),
    "the sentences count only if all of them are right (exact match)": scoring(facts=all_of_them),
    "each word counts once; it counts as often as it stands in both": scoring(answers=unless_sure(once)),
    "a given word counts each time that it is given; it counts as often as it stands in both": scoring(
        answers=unless_sure(not_clipped)),
    "the words are compared place by place; their order does not matter": scoring(answers=unless_sure(in_places)),
    "letters are compared: split() gives words": scoring(answers=unless_sure(signs)),
    "yes and no share words with other answers": scoring(answers=split_words),
    "a yes or no is never right, even if it is the same": scoring(
        answers=lambda answer, gold: Counts(0, 1, 1) if {answer, gold} & {*SURE} else split_words(answer, gold)),
    "only a given yes or no is right or wrong as a whole; it is so if the right answer is one, too": scoring(
        answers=only_given),
    "a yes or no among other words spoils the answer; only an answer that is just yes or no does": scoring(
        answers=any_yes),
    "a sentence that is given twice counts twice": scoring(facts=as_lists),
    "a sentence that is given twice spoils the precision: sets count each once": scoring(facts=shared_once),
    "only the titles of the sentences are compared": scoring(facts=part(0)),
    "only the numbers of the sentences are compared": scoring(facts=part(1)),
}

