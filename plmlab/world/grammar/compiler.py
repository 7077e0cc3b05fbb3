"""Compiler from patterns and facts to an automaton: every placeholder is a choice, and a state keeps only what affects
the rest of the sentence."""

from collections.abc import Iterator
from typing import NamedTuple

from plmlab.world.facts.facts import Facts
from plmlab.world.facts.relations import Entity
from plmlab.world.grammar.bindings import Bindings, Form, PatternBindings, Value, gender, plural
from plmlab.world.grammar.patterns import GENDER_WORDS, NUMBER_WORDS, Agreeing, Element, Literal, Pattern, Slot
from plmlab.world.grammar.splits import Allowed
from plmlab.world.lexicon import Lexicon, Word, article
from plmlab.world.probability.automaton import Arc, Automaton, Builder, Start


class Token(NamedTuple):
    """The annotation of one word of a sentence, which is the label of the word's arc."""

    tag: str
    sense: str | None = None
    number: str | None = None        # of a noun: sg or pl
    variable: str | None = None      # the variable that it realizes
    value: str | None = None         # the key of the entity, or of the word
    form: str | None = None
    mention: str | None = None       # of a name: its kind …
    begins: bool = False             # … and whether this is its first word
    agrees: str | None = None        # of a verb or auxiliary: the variable that it agrees with


class Filling(NamedTuple):
    """One realization of a pattern element: its words, their labels, and the resulting bindings."""

    words: tuple[str, ...]
    labels: tuple[Token, ...]
    bindings: Bindings


class Option(NamedTuple):
    """One realization of a pattern element, and the state after it."""

    words: tuple[str, ...]
    labels: tuple[Token, ...]
    target: int


def compile_grammar(patterns: list[Pattern], facts: Facts, lexicon: Lexicon, allowed: Allowed) -> Automaton:
    """Compile the automaton for the text of one split; patterns that no binding satisfies are left out.

    Raises:
        ValueError: if no pattern can be filled.
    """
    builder = Builder()
    starts = []
    for pattern in patterns:
        choices = PatternBindings(pattern, facts, lexicon, allowed)
        state = PatternCompiler(choices, builder).state(0, {}) if choices.relevant else None
        if state is not None:
            starts.append(Start(pattern.id, state, pattern.weight))
    return builder.automaton(starts)


class PatternCompiler:
    """Builds the states of one pattern: ``state(i, bindings)`` generates elements i, i+1, … given the bindings."""

    def __init__(self, choices: PatternBindings, builder: Builder):
        self.choices = choices
        self.lexicon = choices.lexicon
        self.elements = choices.pattern.english
        self.builder = builder
        self._known: dict[tuple, int | None] = {}

    def state(self, position: int, bindings: Bindings) -> int | None:
        """The state before element ``position``; None if no sentence can be completed from there."""
        key = (position, self.choices.features(position, bindings))
        if key not in self._known:
            self._known[key] = self._build(position, bindings)
        return self._known[key]

    def _build(self, position: int, bindings: Bindings) -> int | None:
        if position == len(self.elements):
            return 0
        options = []
        for words, labels, bound in self._fillings(self.elements[position], bindings):
            target = self.state(position + 1, bound)
            if target is not None:
                options.append(Option(words, labels, target))
        return self._tree(options, 0) if options else None

    def _tree(self, options: list[Option], depth: int) -> int:
        """Arrange the options as a tree of arcs that share common prefixes."""
        groups: dict[tuple, list[Option]] = {}
        for option in options:
            ends = len(option.words) == depth + 1
            key = (option.words[depth], option.labels[depth], option.target if ends else None)
            groups.setdefault(key, []).append(option)
        return self.builder.state(
            Arc(word, label, self._tree(group, depth + 1) if target is None else target, len(group))
            for (word, label, target), group in groups.items())

    def _fillings(self, element: Element, bindings: Bindings) -> Iterator[Filling]:
        if isinstance(element, Literal):
            yield Filling((element.surface,), (self._literal(element),), bindings)
        elif isinstance(element, Agreeing):
            for bound in self.choices.bind(element.agrees, bindings):
                surface = agreeing(element.word, bound[element.agrees])
                tag = self.lexicon.readings[surface][0][0].tag
                yield Filling((surface,), (Token(tag, agrees=element.agrees if tag == "AUX" else None),), bound)
        else:
            for bound in self.choices.bind(element.name, bindings):
                yield Filling(*self._said(element, bound[element.name]), bound)

    def _literal(self, literal: Literal) -> Token:
        return Token(literal.word.tag, self._sense(literal.surface, literal.word),
                     literal.form if literal.form in ("sg", "pl") else None)

    def _sense(self, surface: str, word: Word) -> str | None:
        return word.sense if surface in self.lexicon.ambiguous else None

    def _said(self, slot: Slot, value: Value) -> tuple[tuple[str, ...], tuple[Token, ...]]:
        """The words that fill a placeholder, with their labels; an article comes first."""
        words, labels = self._entity(slot, value) if isinstance(value, Entity) \
            else self._word(slot, value, value.word.key)
        if slot.article:
            return (article(words[0]), *words), (Token("DET"), *labels)
        return words, labels

    def _word(self, slot: Slot, form: Form, value: str) -> tuple[tuple[str], tuple[Token]]:
        word = form.word
        number = form.form if word.tag == "NOUN" else None
        return (form.surface,), (Token(word.tag, self._sense(form.surface, word), number, slot.name, value, form.form,
                                       agrees=slot.agrees),)

    def _entity(self, slot: Slot, entity: Entity) -> tuple[tuple[str, ...], tuple[Token, ...]]:
        if entity.named:
            return entity.words, tuple(
                Token("PROPN", variable=slot.name, value=entity.key, mention=entity.kind, begins=place == 0)
                for place in range(len(entity.words)))
        if "word" not in entity.traits:
            return entity.words, (Token("NUM", variable=slot.name, value=entity.key),)
        return self._word(slot, Form(self.lexicon[entity.traits["word"]], slot.form or "sg"), entity.key)


def agreeing(word: str, value: Value) -> str:
    """The form of a function word that agrees with a value: is or are by number, he or she by gender."""
    if word in GENDER_WORDS:
        return GENDER_WORDS[word][gender(value) == "woman"]
    return NUMBER_WORDS[word][plural(value)]
