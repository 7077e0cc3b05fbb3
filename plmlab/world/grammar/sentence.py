"""A sentence of the Small World with all its gold labels."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from plmlab.world.facts.facts import Facts
from plmlab.world.facts.relations import Triple
from plmlab.world.grammar.bindings import Bindings, Form, thing
from plmlab.world.grammar.chinese import chinese
from plmlab.world.grammar.compiler import Token
from plmlab.world.grammar.patterns import Pattern
from plmlab.world.lexicon import Lexicon
from plmlab.world.probability.automaton import Path


class Mention(NamedTuple):
    """A mention of a named entity, the words ``start`` to ``end`` (exclusive); ``entity`` is the entity's key."""

    start: int
    end: int
    entity: str


class Agreement(NamedTuple):
    """Subject–verb agreement: the indices of the noun and the verb, their number, and the number of attractors in
    between."""

    subject: int
    verb: int
    number: str           # sg or pl
    attractors: int       # nouns of the other number between them

    @property
    def distance(self) -> int:
        """The number of words between subject and verb."""
        return abs(self.verb - self.subject) - 1


@dataclass(frozen=True)
class Sentence:
    """A sentence: its words and their gold labels."""

    words: tuple[str, ...]
    tags: tuple[str, ...]                     # universal parts of speech
    senses: tuple[str | None, ...]            # "bank.river" for ambiguous words
    mentions: tuple[Mention, ...]
    agreement: tuple[Agreement, ...]
    facts: tuple[Triple, ...]                 # the facts it states, including derived ones
    pattern: str
    logprob: float                            # nats, given the facts
    chinese: tuple[str, ...]                  # its translation, segmented

    @property
    def text(self) -> str:
        """The words joined by spaces."""
        return " ".join(self.words)

    @property
    def named(self) -> tuple[tuple[int, int], ...]:
        """The spans (start, end) of the entity mentions, with exclusive end."""
        return tuple((start, end) for start, end, _ in self.mentions)

    @cached_property
    def bio(self) -> tuple[str, ...]:
        """The named entities as BIO tags, one per word: B-person, I-person, …, O."""
        tags = ["O"] * len(self.words)
        for start, end, entity in self.mentions:
            kind = entity.split(":")[0]
            tags[start:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - start - 1)
        return tuple(tags)


class Annotator:
    """Converts derivations of the grammar's automaton to sentences with gold labels."""

    def __init__(self, patterns: list[Pattern], facts: Facts, lexicon: Lexicon):
        self.patterns = {pattern.id: pattern for pattern in patterns}
        self.facts = facts
        self.lexicon = lexicon

    def sentence(self, path: Path, logprob: float) -> Sentence:
        """Build the sentence of a derivation; ``logprob`` is its log-probability in nats."""
        pattern = self.patterns[str(path.label)]
        tokens = [arc.label for arc in path.arcs]
        bound = self._bindings(pattern, tokens)
        return Sentence(
            words=tuple(arc.word for arc in path.arcs),
            tags=tuple(token.tag for token in tokens),
            senses=tuple(token.sense for token in tokens),
            mentions=tuple(_mentions(tokens)),
            agreement=tuple(_agreement(tokens)),
            facts=tuple(Triple(thing(bound[atom.subject]), atom.relation, thing(bound[atom.object]))
                        for atom in pattern.facts),
            pattern=pattern.id, logprob=logprob, chinese=chinese(pattern, bound, self.lexicon))

    def _bindings(self, pattern: Pattern, tokens: list[Token]) -> Bindings:
        """The values of the variables, recovered from the labels."""
        bound: Bindings = {}
        for token in tokens:
            if token.variable is None or token.value is None:
                continue
            if token.variable in pattern.entity_variables:
                bound[token.variable] = self.facts[token.value]
            else:
                bound[token.variable] = Form(self.lexicon[token.value], token.form or "plain")
        return bound


def _mentions(tokens: list[Token]) -> list[Mention]:
    found: list[Mention] = []
    for place, token in enumerate(tokens):
        if token.mention and token.begins:
            found.append(Mention(place, place + 1, str(token.value)))
        elif token.mention:
            found[-1] = found[-1]._replace(end=place + 1)
    return found


def _agreement(tokens: list[Token]) -> list[Agreement]:
    found = []
    for verb, token in enumerate(tokens):
        if token.agrees is None:
            continue
        places = [place for place, other in enumerate(tokens)
                  if other.variable == token.agrees and other.number]
        if not places:
            continue
        subject = places[0]
        number = str(tokens[subject].number)
        between = tokens[min(subject, verb) + 1:max(subject, verb)]
        attractors = sum(other.number not in (None, number) for other in between)
        found.append(Agreement(subject, verb, number, attractors))
    return found
