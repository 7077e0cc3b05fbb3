"""Chinese translations, from the pattern's Chinese template and the values of its variables."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from plmlab.world.facts.facts import Facts
from plmlab.world.facts.relations import Entity
from plmlab.world.grammar.bindings import Bindings, Form, Value, gender, plural
from plmlab.world.grammar.patterns import Pattern
from plmlab.world.lexicon import Lexicon, Word
from plmlab.world.probability.automaton import Automaton

DETERMINERS = {"that": ("那", "那些"), "this": ("这", "这些"), "one": ("一", "一些")}


def chinese(pattern: Pattern, bindings: Bindings, lexicon: Lexicon) -> tuple[str, ...]:
    """The segmented Chinese sentence.

    In a template, ``{n}`` is the word; ``{n.that}``, ``{n.this}`` and ``{n.one}`` are a determiner with the noun's
    measure word (那 把, 那些), ``{n.m}`` is the measure word alone, ``{a.pred}`` an adjective as predicate (很 旧),
    ``{a.so}`` that predicate after 'why' (这么 旧), ``{s.he}`` a pronoun for a person (他, 她), and ``{s.spouse}``
    husband or wife.
    """
    words: list[str] = []
    for part in pattern.chinese:
        if part.startswith("{"):
            name, _, form = part[1:-1].partition(".")
            words += _said(bindings[name], form, lexicon)
        else:
            words.append(part)
    return tuple(words)


def _said(value: Value, form: str, lexicon: Lexicon) -> tuple[str, ...]:
    if form == "he":
        return ("她",) if gender(value) == "woman" else ("他",)
    if form == "spouse":
        return ("妻子",) if gender(value) == "woman" else ("丈夫",)
    if not form:
        return value.chinese if isinstance(value, Entity) else value.word.chinese
    word = _word(value, lexicon)
    if form == "m":
        return (word.measure,)
    if form == "pred":
        return word.predicate
    if form == "so":
        return ("这么", *word.predicate[1:]) if word.predicate[0] == "很" else word.predicate
    singular, several = DETERMINERS[form]
    return (several,) if plural(value) else (singular, word.measure)


def _word(value: Value, lexicon: Lexicon) -> Word:
    """The lexicon entry of a form, or of the word for a value such as craft:baker."""
    return value.word if isinstance(value, Form) else lexicon[value.traits["word"]]


def chinese_words(automaton: Automaton, patterns: Iterable[Pattern], facts: Facts, lexicon: Lexicon) -> set[str]:
    """All Chinese words in the sentences of one grammar.

    The placeholders of a Chinese template are filled independently, so it is enough to try each value of each variable
    once.
    """
    by_id = {pattern.id: pattern for pattern in patterns}
    found: set[str] = set()
    for start in automaton.starts:
        pattern = by_id[str(start.label)]
        values = _values(automaton, start.state, pattern, facts, lexicon)
        some: Bindings = {name: taken[0] for name, taken in values.items()}
        found.update(chinese(pattern, some, lexicon))
        for name, taken in values.items():
            for value in taken[1:]:
                found.update(chinese(pattern, some | {name: value}, lexicon))
    return found


def _values(automaton: Automaton, state: int, pattern: Pattern, facts: Facts,
            lexicon: Lexicon) -> dict[str, Sequence[Value]]:
    """Variable → all values that it takes on the paths from a state."""
    seen: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)
    reached, waiting = {state}, [state]
    while waiting:
        for arc in automaton.arcs[waiting.pop()]:
            token = arc.label
            if token.variable is not None and token.value is not None:
                seen[token.variable][token.value, token.form or "plain"] = None
            if arc.target not in reached:
                reached.add(arc.target)
                waiting.append(arc.target)
    return {name: [facts[key] if name in pattern.entity_variables else Form(lexicon[key], form) for key, form in pairs]
            for name, pairs in seen.items()}
