"""Stories of 500 to 4,000 words in which information given early is needed late."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from random import Random

from plmlab.draws import choice, randint, shuffled
from plmlab.world.documents.plots import Beat, Drawn, draw_plot, read_plots
from plmlab.world.documents.roles import Cast
from plmlab.world.documents.scenes import Asides, Scenery, read_scenes
from plmlab.world.documents.templates import wide_lexicon
from plmlab.world.facts.facts import Facts
from plmlab.world.facts.relations import Entity, Triple
from plmlab.world.grammar.patterns import Pattern, read_patterns
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.grammar.splits import HeldOut
from plmlab.world.lexicon import read_lexicon
from plmlab.world.tables import TABLES

PEOPLE = 4
TO_INTRODUCE = 400                                   # words of the story per introduction
SHORTEST, LONGEST, ROOM = 500, 20_000, 60            # words; ROOM: minimum gap between both bounds
WHERE = {"early": (0.0, 0.25), "middle": (0.4, 0.6), "late": (0.75, 1.0)}       # fractions of the story's words


class StoryError(ValueError):
    """Raised for a length that no story can have, and for a world with too few people."""


@dataclass(frozen=True)
class Story:
    """A story with a question that can be answered from its text.

    The answer follows from the ``needed`` sentences, the first of which is in the first quarter. Two more threads are
    narrated in the same way: without the first needed sentence, all ``options`` are equally likely. The ``logprob`` of
    every sentence is 0, because a story has no exact floor.
    """

    sentences: tuple[Sentence, ...]
    plot: str                                # a row of story_plots.tsv
    characters: tuple[str, ...]              # keys of the people
    question: tuple[str, ...]
    answer: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]     # the answers of all threads; one of them is correct
    needed: tuple[int, ...]                  # indices of the sentences needed for the answer
    question_chinese: tuple[str, ...]
    answer_chinese: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all sentences, concatenated."""
        return tuple(word for sentence in self.sentences for word in sentence.words)

    @property
    def text(self) -> str:
        """The words of all sentences, joined by spaces."""
        return " ".join(self.words)


class Storyteller:
    """Generates the stories of one world. Stories count as training text, so they contain nothing that is held out.

    Raises:
        TableError: if a table of stories is incomplete or inconsistent; the message names file and rows.
    """

    def __init__(self, facts: Facts, held: HeldOut, folder: Path = TABLES):
        self.facts = facts
        self.held = held
        self.lexicon = wide_lexicon(folder)
        self.plots = read_plots(self.lexicon, folder)
        self.scenes = read_scenes(self.lexicon, folder)
        self.patterns: list[Pattern] = read_patterns(read_lexicon(folder), facts.relations, folder)

    def stories(self, seed: int = 0, words: tuple[int, int] = (500, 4000)) -> Iterator[Story]:
        """Endless iterator over stories; ``words`` is the minimum and maximum length. The same seed gives the same
        stories.

        Raises:
            StoryError: for impossible lengths.
        """
        least, most = words
        if least < SHORTEST or most > LONGEST or most - least < ROOM:
            raise StoryError(f"words={words}: a story has between {SHORTEST} and {LONGEST:,} words, and the maximum "
                             f"must be at least {ROOM} above the minimum, such as words=(500, 4000)")
        return self._stories(Random(seed), least, most - ROOM)

    def _stories(self, rng: Random, least: int, most: int) -> Iterator[Story]:
        while True:
            for plot in shuffled(rng, self.plots):
                people = self.people(rng)
                cast = self.cast(people, rng)
                drawn = draw_plot(plot, cast, rng)
                scenery = Scenery(self.scenes, cast, Asides(self.patterns, cast, self.facts, rng), rng)
                yield self._arranged(drawn, people, scenery, least + randint(rng, most - least + 1), rng)

    def people(self, rng: Random) -> list[Entity]:
        """Four people with different given names, none of them held out. Raises StoryError if the world has too few."""
        chosen: dict[str, Entity] = {}
        for person in shuffled(rng, self.facts.kind("person")):
            if person.key not in self.held.entities and person.words[0] not in chosen:
                chosen[person.words[0]] = person
            if len(chosen) == PEOPLE:
                return list(chosen.values())
        raise StoryError(f"a story needs {PEOPLE} people with different given names, but this world has {len(chosen)}")

    def cast(self, people: list[Entity], rng: Random) -> Cast:
        """The cast of a story: these people by their given names, their town and café, and the towns, films and books
        that they mention."""
        open_ones: dict[str, list[Entity]] = {
            kind: [entity for entity in self.facts.kind(kind) if entity.key not in self.held.entities]
            for kind in ("town", "cafe", "film", "book")}
        home = choice(rng, open_ones["town"])
        by_name = [Entity(person.key, "person", person.words[:1], person.chinese[:1], person.traits)
                   for person in people]
        groups = {"cast": by_name, "home": [home], "town": [town for town in open_ones["town"] if town != home],
                  "cafe": shuffled(rng, open_ones["cafe"])[:1], "film": open_ones["film"], "book": open_ones["book"]}
        return Cast(groups, self.lexicon, self.held)

    def _arranged(self, drawn: Drawn, people: list[Entity], scenery: Scenery, target: int, rng: Random) -> Story:
        head = scenery.scene("open", all=tuple(people)) + self._introductions(people[:target // TO_INTRODUCE], scenery)
        close = scenery.scene("close")
        left = target - sum(len(sentence.words) for sentence in (*head, *close, *(b.sentence for b in drawn.beats)))
        scenes, days = [head], scenery.days()
        while left > 0:
            scenes.append(next(days))
            left -= _length(scenes[-1])
        arranged = _with_beats([*scenes, close], drawn.beats, rng)
        return Story(tuple(sentence for sentence, _ in arranged), drawn.plot.name, tuple(one.key for one in people),
                     drawn.question.words, drawn.answer.words, drawn.options,
                     tuple(place for place, (_, needed) in enumerate(arranged) if needed),
                     drawn.question.chinese, drawn.answer.chinese)

    def _introductions(self, people: list[Entity], scenery: Scenery) -> list[Sentence]:
        """Sentences that state the people's crafts, if the training text may state them."""
        sentences = []
        for person in people:
            craft = self.facts.object(person, "occupation")
            if craft is not None:
                fact = Triple(person.key, "occupation", craft.key)
                if self.held.split_of(fact) == "train":
                    scene = scenery.scene("intro", x=person, c=craft)
                    sentences += [replace(sentence, facts=(fact,)) for sentence in scene]
        return sentences


def _length(sentences: list[Sentence]) -> int:
    return sum(len(sentence.words) for sentence in sentences)


def _with_beats(scenes: list[list[Sentence]], beats: tuple[Beat, ...], rng: Random) -> list[tuple[Sentence, bool]]:
    """Insert the plot's sentences between the scenes, each step in its part of the story. The second value marks the
    sentences that the answer needs."""
    ends = list(accumulate(_length(scene) for scene in scenes))
    total = ends[-1] + _length([beat.sentence for beat in beats])
    after: dict[int, list[Beat]] = {}
    before = 0
    for step, (first, last) in WHERE.items():
        step_beats = [beat for beat in beats if beat.step == step]
        own = _length([beat.sentence for beat in step_beats])
        inside = [place for place, end in enumerate(ends[:-1])
                  if first * total <= end + before and end + before + own <= last * total]
        for beat in shuffled(rng, step_beats):
            free = [place for place in inside if place not in after]
            after.setdefault(choice(rng, free or inside or [0]), []).append(beat)
        before += own
    sentences: list[tuple[Sentence, bool]] = []
    for place, scene in enumerate(scenes):
        sentences += [(sentence, False) for sentence in scene]
        sentences += [(beat.sentence, beat.needed) for beat in after.get(place, ())]
    return sentences
