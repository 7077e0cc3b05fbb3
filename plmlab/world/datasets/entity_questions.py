"""One-hop questions of worlds for knowledge-base question answering: each names one entity, and asks for the other side
of one fact about it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from random import Random
from typing import TypeVar

from plmlab.draws import randint
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from plmlab.world.facts.relations import NAMED
from plmlab.world.questions.bank import Question
from plmlab.world.questions.chains import find_words
from plmlab.world.questions.shapes import Shape
from plmlab.world.world import World

SPLITS = ("train", "test", "facts", "entities")
"""The splits of a world that have one-hop questions."""
WORDINGS = 2
"""Number of wordings of each one-hop question."""

FULL, SURNAME = "full name", "surname"
"""The two forms of a name in a question."""

Span = tuple[int, int]
Row = tuple[int, ...]
Value = TypeVar("Value")


@dataclass(frozen=True)
class EntityQuestion:
    """A question about a ``world``, given by its seed, with everything that an answerer has to find.

    ``mention`` is the span of the name, (start, end) with exclusive end, and ``entity`` the key of the entity that it
    denotes. ``relation`` is that of its fact, with "~" in front if the entity is the object. ``wording`` is the
    name of the question's shape and the index of its wording. ``answer`` is the key of the answer, and ``answer_words``
    are its words as the articles have them ("apples").
    """

    world: int
    words: tuple[str, ...]
    mention: Span
    entity: str
    relation: str
    wording: tuple[str, int]
    answer: str
    answer_words: tuple[str, ...]

    @property
    def about_person(self) -> bool:
        """Whether the question names a person."""
        return self.entity.startswith("person:")

    @property
    def name(self) -> tuple[str, ...]:
        """The words of the mention."""
        return self.words[slice(*self.mention)]

    def groups(self, seed: int) -> Iterator[str]:
        """The groups to which the question belongs in a table, given the seed that determines the held-out
        wordings."""
        form = FULL if self.entity.endswith(f":{' '.join(self.name)}") else SURNAME
        yield f"{form}, {'new' if has_new_wording(self, seed) else 'seen'} wording"
        yield f"{form}, answer is a {'name' if self.answer.split(':')[0] in NAMED else 'value'}"
        if self.about_person:
            yield f"{form}, about a person"

    def with_surname(self) -> "EntityQuestion":
        """The same question with only the surname of the person, who may share it with others. Raises ValueError if the
        question does not name a person."""
        if not self.about_person:
            raise ValueError(f"{' '.join(self.words)!r:.60} names {self.entity!r:.60}; only a person has a surname")
        start, end = self.mention
        return replace(self, words=(*self.words[:start], *self.words[end - 1:]), mention=(start, start + 1))


def with_surnames(questions: Sequence[EntityQuestion]) -> list[EntityQuestion]:
    """The questions, followed by those about people with surnames only."""
    return [*questions, *(one.with_surname() for one in questions if one.about_person)]


def one_hop_questions(world: World, splits: Sequence[str] = SPLITS) -> list[EntityQuestion]:
    """All one-hop questions about a world, in an order and in wordings drawn with a fixed seed."""
    shapes = {shape.name: shape for shape in world.question_bank.shapes}
    return [_entity_question(world, shapes[question.shape], question)
            for split in splits for question in world.questions("one-hop", split)]


def has_new_wording(question: EntityQuestion, seed: int) -> bool:
    """Whether the question's wording is held out. Each shape has two wordings, and the seed determines which one is."""
    shape, wording = question.wording
    return wording == randint(Random(f"{seed}:{shape}"), WORDINGS)


def by_world(questions: Sequence[EntityQuestion], answer: Callable[[int, list[EntityQuestion]], Iterable[Value]],
             ) -> list[Value]:
    """The results of a function, called with a world's seed and all questions about this world, in the order of the
    questions."""
    found = dict[EntityQuestion, Value]()
    for world in dict.fromkeys(one.world for one in questions):
        own = [one for one in questions if one.world == world]
        found |= zip(own, answer(world, own), strict=True)
    return [found[one] for one in questions]


def by_group(questions: Sequence[EntityQuestion], seed: int, values: Sequence[Value],
             score: Callable[[list[Value]], float]) -> dict[str, float]:
    """Group of questions (`EntityQuestion.groups`) → the score of their values."""
    found: dict[str, list[Value]] = defaultdict(list)
    for one, value in zip(questions, values, strict=True):
        for group in one.groups(seed):
            found[group].append(value)
    return {group: score(some) for group, some in found.items()}


def rows(questions: Iterable[EntityQuestion]) -> list[Row]:
    """The ids of the words of each question."""
    return [tuple(ids(one.words)) for one in questions]


def masked(words: Sequence[str], spans: Sequence[Span]) -> Row:
    """The ids of the words, with one [MASK] for each of the disjoint spans."""
    row, mask = ids(words), world_tokenizer().vocab.need("mask")
    for start, end in sorted(spans, reverse=True):
        row[start:end] = [mask]
    return tuple(row)


def relation_statements(*worlds: World) -> dict[str, list[Row]]:
    """Relation → the distinct sentences of the training articles that state it and no other relation, with all names
    and the object `masked`."""
    found: dict[str, dict[Row, None]] = defaultdict(dict)
    for world in worlds:
        for sentence in chain.from_iterable(article.sentences for article in world.articles("train")):
            if len(relations := {fact.relation for fact in sentence.facts}) == 1:
                spans = dict.fromkeys((start, end) for start, end, _ in sentence.mentions)
                spans |= {span: None for fact in sentence.facts for span in _named(sentence.words, world, fact.object)
                          if all(span[1] <= start or end <= span[0] for start, end in spans)}
                found[relations.pop()][masked(sentence.words, [*spans])] = None
    return {relation: list(rows) for relation, rows in found.items()}


def relation_questions(questions: Iterable[EntityQuestion]) -> dict[str, list[Row]]:
    """Relation → the distinct questions that ask for it, with the name `masked`."""
    found: dict[str, dict[Row, None]] = defaultdict(dict)
    for one in questions:
        found[one.relation][masked(one.words, [one.mention])] = None
    return {relation: list(some) for relation, some in found.items()}


def _entity_question(world: World, shape: Shape, question: Question) -> EntityQuestion:
    (fact,), (step,) = question.facts, shape.steps
    entity = world.facts[fact.object if step.backward else fact.subject]
    (start, end), = _named(question.words, world, entity.key)
    template = (*question.words[:start], "{a}", *question.words[end:])
    wording = next(i for i, wording in enumerate(shape.wordings) if _matches(template, wording.english))
    return EntityQuestion(world.seed, question.words, (start, end), entity.key, step.name, (shape.name, wording),
                          str(question.answer_entity), question.answer)


def _named(words: Sequence[str], world: World, key: str) -> Iterator[Span]:
    """The first span with the name of an entity, if there is one."""
    if (start := find_words(words, world.facts[key].words)) is not None:
        yield start, start + len(world.facts[key].words)


def _matches(template: Sequence[str], wording: Sequence[str]) -> bool:
    """Whether a wording has these words; words that agree with an entity, such as {his@a}, may be any."""
    return len(template) == len(wording) and all(one == other or "@" in other
                                                 for one, other in zip(template, wording, strict=True))
