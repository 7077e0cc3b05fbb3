"""Scenes: what happens in a story between the steps of its plot, day after day."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from plmlab.draws import choice, shuffled
from plmlab.world.documents.roles import Cast, Role, check_roles, roles_of
from plmlab.world.documents.templates import SLOT, Template, Thing, combines_held, parse_template, say
from plmlab.world.facts.facts import Facts
from plmlab.world.grammar.compiler import compile_grammar
from plmlab.world.grammar.patterns import Pattern
from plmlab.world.grammar.sentence import Annotator, Sentence
from plmlab.world.grammar.splits import Allowed, is_test
from plmlab.world.lexicon import Lexicon
from plmlab.world.probability.automaton import Automaton
from plmlab.world.probability.automaton import Path as Derivation
from plmlab.world.tables import TABLES, Row, TableError, clash, read_table, unique

DAY = ("dawn", "morning", "day", "day", "evening", "night")
TIMES = ("open", "intro", "close", *dict.fromkeys(DAY))
ROLES = {"p": Role("p", ("cast",)), "q": Role("q", ("cast",)), "s": Role("s", ("cast",)), "k": Role("k", ("cafe",)),
         "t": Role("t", ("home",))}
KINDS = ("cast", "town", "cafe", "home", "film", "book")
ONCE = ("all", "x", "c")                  # bound by the story: all people, the person being introduced, and their craft
ASIDES = ("scene.handle.5", "scene.place.1", "scene.place.3", "scene.family.1", "scene.family.3")      # patterns
TRIES = 20


@dataclass(frozen=True)
class Scene:
    """A few related sentences, with the time of day at which they can occur, or with "open", "intro" or "close" for the
    beginning, the introduction and the end of the story."""

    time: str
    sentences: tuple[Template, ...]

    @cached_property
    def roles(self) -> list[Role]:
        """The roles that the scene has to fill, each once; those bound by the story itself are left out."""
        found: dict[str, Role] = {}
        for template in self.sentences:
            for role in roles_of(template):
                found[role.name] = role
            for name in sorted(template.variables - set(found) - set(ONCE)):
                found[name] = ROLES[name]
        return list(found.values())

    def uses(self, words: set[str]) -> bool:
        """Whether one of these words occurs in the scene's English templates."""
        return not self.words.isdisjoint(words)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the scene's English templates."""
        return frozenset(word.partition("/")[0] for template in self.sentences
                         for word in template.row.words("english"))


def read_scenes(lexicon: Lexicon, folder: Path = TABLES) -> dict[str, list[Scene]]:
    """Read story_scenes.tsv: time → scenes.

    Raises:
        TableError: for a duplicate, an unknown time, class or variable, or a different number of sentences in the two
            languages.
    """
    rows = read_table("story_scenes.tsv", required=("id", "time", "english", "chinese"), folder=folder)
    unique(rows, "id")
    unique(rows, "english")
    found: dict[str, list[Scene]] = {}
    for row in rows:
        if row["time"] not in TIMES:
            raise clash(f"unknown time '{row['time']}'; the times are {', '.join(TIMES)}", row)
        found.setdefault(row["time"], []).append(_scene(row, lexicon))
    missing = [time for time in TIMES if time not in found]
    if missing:
        raise TableError(f"story_scenes.tsv has no scene for {', '.join(missing)}")
    return found


def _scene(row: Row, lexicon: Lexicon) -> Scene:
    english, chinese = (row[column].split("|") for column in ("english", "chinese"))
    if len(english) != len(chinese):
        raise clash(f"{len(english)} sentences in English and {len(chinese)} in Chinese", row)
    known = {match["name"] for match in SLOT.finditer(row["english"])}
    templates = tuple(parse_template(row["id"], tuple(en.split()), tuple(zh.split()), row, lexicon, known)
                      for en, zh in zip(english, chinese, strict=True))
    for template in templates:
        loose = template.variables - {role.name for part in templates for role in roles_of(part)} - {*ROLES, *ONCE}
        if loose:
            raise clash(f"the variables {', '.join(sorted(loose))} have no class", row)
        check_roles(roles_of(template), KINDS, lexicon, row)
    return Scene(row["time"], templates)


class Scenery:
    """Samples scenes for one story. A scene is repeated only after all scenes of its time have been used. Some scenes
    are followed by an aside if ``asides`` is given."""

    def __init__(self, scenes: dict[str, list[Scene]], cast: Cast, asides: "Asides | None", rng: Random):
        self.scenes = {time: [scene for scene in group if not scene.uses(cast.taken)
                              and all(cast.pool(role) for role in scene.roles)] for time, group in scenes.items()}
        self.cast = cast
        self.asides = asides
        self.rng = rng
        self.decks: dict[str, list[Scene]] = {}

    def scene(self, time: str, **bound: Thing) -> list[Sentence]:
        """The sentences of a random scene of this time; ``bound`` assigns players to some roles.

        Raises:
            TableError: if no scene is left that avoids held-out combinations and the plot's words.
        """
        for _ in range(TRIES):
            if not self.decks.get(time):
                self.decks[time] = shuffled(self.rng, self.scenes[time])
            if not self.decks[time]:
                break
            scene = self.decks[time].pop()
            filled = self.cast.fill(scene.roles, self.rng, bound)
            if filled is not None and not any(combines_held(template, filled, self.cast.lexicon, self.cast.held)
                                              for template in scene.sentences):
                return [say(template, filled, self.cast.lexicon) for template in scene.sentences]
        raise TableError(f"story_scenes.tsv has no scene for '{time}' without held-out combinations and without the "
                         f"words of the plot: {', '.join(sorted(self.cast.taken))}")

    def days(self) -> Iterator[list[Sentence]]:
        """Endless iterator over scenes, day after day, starting in the morning."""
        first = True
        while True:
            for time in DAY[first:]:
                scene = self.scene(time)
                if self.asides and time == "day" and self.rng.random() < 0.4:
                    scene = [*scene, *self.asides.draw(self.cast.taken)]
                yield scene
            first = False


class Asides:
    """Additional sentences from the training grammar, restricted to the people and places of one story."""

    def __init__(self, patterns: list[Pattern], cast: Cast, facts: Facts, rng: Random):
        people = [entity for group in ("cast", "home", "cafe") for entity in cast.entities[group]]
        there = Facts(facts.relations, people, ())
        chosen = [pattern for pattern in patterns if pattern.id in ASIDES]
        self.automaton: Automaton = compile_grammar(chosen, there, cast.lexicon, Allowed(cast.held, "train"))
        self.annotator = Annotator(chosen, there, cast.lexicon)
        self.rng = rng

    def draw(self, taken: set[str]) -> list[Sentence]:
        """One sentence that contains none of the plot's words; an empty list if three attempts fail."""
        for _ in range(3):
            start = choice(self.rng, self.automaton.starts)
            arcs = self.automaton.walk(start, self.rng)
            words = {arc.word for arc in arcs}
            if not words & taken and not is_test(arc.word for arc in arcs):
                return [self.annotator.sentence(Derivation(start.label, tuple(arcs)), 0.0)]
        return []
