"""Articles: everything known about one entity, as a person would write it.

An article is planned first and then written. The plan moves from topic to topic (birth before work, work before home)
and for each topic selects rows of article_sentences.tsv whose facts hold and have not been stated yet.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log
from pathlib import Path
from random import Random

from plmlab.draws import choice, shuffled
from plmlab.world.documents.article_rows import ArticleRow, read_article_rows
from plmlab.world.documents.templates import Bindings, Thing, combines_held, say, wide_lexicon
from plmlab.world.facts.facts import FactError, Facts
from plmlab.world.facts.relations import NAMED, Entity, Triple
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.grammar.splits import HeldOut, SplitError
from plmlab.world.lexicon import Word
from plmlab.world.tables import TABLES

LEAST, MOST = 4, 12      # sentences
NAMES = 4                # at most this many in one list


@dataclass(frozen=True)
class Article:
    """The article about one entity.

    A sentence's ``mentions`` link names, pronouns and phrases such as "the town" to their entities; ``facts`` are what
    it states (a mirrored relation in both directions). ``logprob`` is the log-probability of its row given the plan:
    the log of the row's share of the total weight of the rows applicable to the topic at that point. The order of the
    topics is part of the plan.
    """

    entity: str                          # its key, "person:Anna Bell"
    title: tuple[str, ...]               # its words
    sentences: tuple[Sentence, ...]      # 4 to 12
    gist: tuple[int, ...]                # the sentences that define the entity

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all sentences, concatenated."""
        return tuple(word for sentence in self.sentences for word in sentence.words)

    @property
    def text(self) -> str:
        """The words of all sentences, joined by spaces."""
        return " ".join(self.words)

    @cached_property
    def _told(self) -> dict[Triple, int]:
        first: dict[Triple, int] = {}
        for place, sentence in enumerate(self.sentences):
            for triple in sentence.facts:
                first.setdefault(triple, place)
        return first

    def telling(self, triple: Triple) -> int | None:
        """The index of the first sentence that states the fact; None if no sentence does."""
        return self._told.get(triple)


@dataclass(frozen=True)
class Planned:
    """A planned sentence: its row, variable bindings, the facts that it states, and its log-probability in nats."""

    row: ArticleRow
    bound: Bindings
    facts: tuple[Triple, ...]
    logprob: float

    def others(self, entity: Entity) -> list[Entity]:
        """The named entities mentioned in the sentence besides the article's own."""
        things = [other for thing in self.bound.values() for other in _things(thing)]
        return [thing for thing in things if isinstance(thing, Entity) and thing.named and thing != entity]


class Library:
    """Generates the articles of one world; the same seed gives the same text.

    Raises:
        TableError: if a table of articles is incomplete or inconsistent; the message names file and rows.
    """

    def __init__(self, facts: Facts, held: HeldOut, seed: int, folder: Path = TABLES):
        self.facts = facts
        self.held = held
        self.seed = seed
        self.lexicon = wide_lexicon(folder)
        self.rows = read_article_rows(self.lexicon, facts.relations, folder)
        self.about: dict[str, list[Triple]] = {}
        for triple in facts.triples:
            for end in dict.fromkeys((triple.subject, triple.object)):
                self.about.setdefault(end, []).append(triple)

    def article(self, key: str, split: str | None = None, without: Collection[Triple] = ()) -> Article:
        """Generate the article of an entity.

        Args:
            split: None states all facts (the corpus for retrieval and questions); "train" states no held-out facts.
            without: facts that are not stated either; a mirrored relation must be given in both directions.

        Raises:
            FactError: if the entity is unknown or has no article (a value, or an entity held out of the split).
            SplitError: for a split other than None and "train".
        """
        entity = self.facts[key]
        if split not in (None, "train"):
            raise SplitError(f"articles are available with split=None (all facts) or split='train', not {split!r:.60}")
        if not entity.named:
            raise FactError(f"{key!r:.60} is a value and has no article; articles are about {', '.join(NAMED)}")
        if split == "train" and key in self.held.entities:
            raise FactError(f"{key!r:.60} is held out: the training text has no article about it; use split=None")
        triples = [triple for triple in self.about.get(key, ())
                   if triple not in without and (split is None or self.held.split_of(triple) == "train")]
        return Writer(entity, triples, self, train=split == "train").article()

    def articles(self, split: str | None = None) -> Iterator[Article]:
        """Generate the articles of all named entities, in the order of their kinds; "train" leaves out the held-out
        ones."""
        for entity in self.facts.kind(*NAMED):
            if split is None or entity.key not in self.held.entities:
                yield self.article(entity.key, split)


class Writer:
    """Plans and writes one article from the triples that may be stated."""

    def __init__(self, entity: Entity, triples: list[Triple], library: Library, train: bool):
        self.entity = entity
        self.train = train
        self.library = library
        self.facts = library.facts
        self.rng = Random(f"{library.seed} {entity.key}")
        self.untold: dict[Triple, None] = dict.fromkeys(triples)
        self.plan: list[Planned] = []

    def article(self) -> Article:
        """Plan and write the article; to be called only once, because it consumes the triples."""
        topics = self.library.rows[self.entity.kind]
        by_stage: dict[int, list[str]] = {}
        for topic, rows in topics.items():
            by_stage.setdefault(rows[0].stage, []).append(topic)
        for stage in sorted(by_stage):
            for topic in shuffled(self.rng, by_stage[stage]):
                if topic != "colour":
                    self._tell(topics[topic])
        self._shorten()
        self._colour(topics.get("colour", []))
        return Article(self.entity.key, self.entity.words, tuple(self._written()), self._gist())

    def _tell(self, rows: list[ArticleRow]) -> None:
        """Add rows of one topic to the plan until none of its facts is left."""
        count = 0
        while fitting := self._fitting(rows, count):
            weighted = [option for option in fitting for _ in range(option[0].weight)]
            row, bound, facts = choice(self.rng, weighted)
            self.plan.append(Planned(row, bound, facts, log(row.weight / len(weighted))))
            for triple in facts:
                self.untold.pop(triple, None)
            count += 1
            if row.topic == "define":
                return

    def _fitting(self, rows: list[ArticleRow], count: int) -> list[tuple[ArticleRow, Bindings, tuple[Triple, ...]]]:
        """The rows that are applicable now, with their bindings and facts."""
        found = []
        for row in rows:
            filled = self._filled(row) if row.may_follow(count) else None
            if filled is not None and self._may_say(row, filled[0]):
                found.append((row, *filled))
        relations = {triple.relation for _, _, facts in found for triple in facts}
        found = [(row, bound, facts) for row, bound, facts in found
                 if not row.last or relations == {triple.relation for triple in facts}]
        found = [option for option in found if not option[0].otherwise] or found
        if count:
            found = [option for option in found if option[0] is not self.plan[-1].row] or found
        if self.plan and self._misread(self.plan[-1]):
            found = [option for option in found if not option[0].opens_with_his] or found
        return found

    def _may_say(self, row: ArticleRow, bound: Bindings) -> bool:
        """Whether the row may be used; training text contains no held-out combination of words."""
        return not (self.train and combines_held(row.template, bound, self.library.lexicon, self.library.held))

    def _filled(self, row: ArticleRow) -> tuple[Bindings, tuple[Triple, ...]] | None:
        """The bindings of the row's variables and the facts that it states; None if the remaining facts do not support
        it."""
        bound: Bindings = {"e": self.entity}
        for name, atoms in row.atoms.items():
            pools = [self._others(atom.relation, atom.subject == "e") for atom in atoms]
            blank = row.template.blanks[name]
            taken = [thing for thing in bound.values() if isinstance(thing, Entity)]
            pool = [other for other in pools[0] if all(other in more for more in pools[1:]) and other not in taken
                    and (not blank.domain or other.kind in blank.domain)]
            if not pool:
                return None
            bound[name] = tuple(pool[:_share(len(pool))]) if blank.several else pool[0]
        keys = {name: [other.key for other in _things(thing) if isinstance(other, Entity)]
                for name, thing in bound.items()}
        return bound, row.facts(keys, self.facts.relations)

    def _others(self, relation: str, subject: bool) -> list[Entity]:
        """The entities related to the subject by the unstated facts of a relation."""
        key = self.entity.key
        return [self.facts[triple.object if subject else triple.subject] for triple in self.untold
                if triple.relation == relation and (triple.subject if subject else triple.object) == key]

    def _misread(self, before: Planned) -> bool:
        """Whether a pronoun after this sentence could be misread as referring to another entity."""
        others = before.others(self.entity)
        if self.entity.kind == "person":
            return any(other.traits.get("gender") == self.entity.traits["gender"] for other in others)
        return any(other.kind != "person" for other in others)

    def _shorten(self) -> None:
        """Cut the plan to at most twelve sentences by removing the last ones whose subject is not the article's
        entity."""
        for planned in reversed(self.plan[1:]):
            own = any(triple.subject == self.entity.key for triple in planned.facts)
            if len(self.plan) > MOST and not own:
                self.plan.remove(planned)

    def _colour(self, rows: list[ArticleRow]) -> None:
        """Add sentences without facts at the end, enough to reach the minimum length, and occasionally one more."""
        rows = [row for row in rows if self._may_say(row, {"e": self.entity})]
        wanted = max(LEAST - len(self.plan), int(len(self.plan) < 8 and self.rng.random() < 0.4))
        for place, row in enumerate(shuffled(self.rng, rows)[:wanted]):
            self.plan.append(Planned(row, {"e": self.entity}, (), -log(len(rows) - place)))

    def _written(self) -> Iterator[Sentence]:
        for place, planned in enumerate(self.plan):
            spelled = ("e",) if place and self._misread(self.plan[place - 1]) else ()
            yield say(planned.row.template, planned.bound, self.library.lexicon, facts=planned.facts,
                      logprob=planned.logprob, spelled=spelled)

    def _gist(self) -> tuple[int, ...]:
        """The indices of the defining sentence and of the first other sentence whose row is marked as gist."""
        marked = [place for place, planned in enumerate(self.plan) if place and planned.row.gist]
        return (0, *marked[:1])


def _things(thing: Thing) -> tuple[Entity | Word, ...]:
    """What a variable denotes, as a tuple."""
    return thing if isinstance(thing, tuple) else (thing,)


def _share(names: int) -> int:
    """The number of names per list when ``names`` are distributed evenly, so that no short list is left over."""
    lists = -(-names // NAMES)
    return -(-names // lists)
