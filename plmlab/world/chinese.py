"""How a sentence reads in Chinese: the pattern's Chinese template, filled with what its variables stand for."""

from plmlab.world.choices import Bindings, Form, Value, gender, plural
from plmlab.world.lexicon import Lexicon, Word
from plmlab.world.patterns import Pattern
from plmlab.world.relations import Entity

DETERMINERS = {"that": ("那", "那些"), "this": ("这", "这些"), "one": ("一", "一些")}


def chinese(pattern: Pattern, bindings: Bindings, lexicon: Lexicon) -> tuple[str, ...]:
    """The segmented Chinese sentence.

    A template's ``{n}`` is the word; ``{n.that}``, ``{n.this}`` and ``{n.one}`` are a determiner with the noun's
    measure word (那 把, 那些), ``{n.m}`` the measure word alone, ``{a.pred}`` an adjective as predicate (很 旧),
    ``{a.so}`` the same after 'why' (这么 旧), ``{s.he}`` a pronoun for a person (他, 她),
    ``{s.spouse}`` husband or wife.
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
    """The lexicon's word of a form, or of a value such as craft:baker."""
    return value.word if isinstance(value, Form) else lexicon[value.traits["word"]]
