"""The lexicon: every common word with its part of speech, its forms, its classes, its sense and its Chinese."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from plmlab.world.tables import TABLES, Row, TableError, clash, read_table

VOWELS = "aeiouAEIOU"


@dataclass(frozen=True)
class Word:
    """A word of the lexicon: one row of a table, that is one sense of one part of speech."""

    key: str                          # its name everywhere: "key.noun", or its sense: "bank.river"
    tag: str                          # NOUN VERB ADJ ADV DET PRON ADP AUX CCONJ SCONJ PART NUM INTJ PUNCT
    forms: dict[str, str]             # "sg" and "pl"; "base" "third" "past" "ing" "participle"; else "plain"
    classes: tuple[str, ...]          # the selectional classes it stands in
    suits: tuple[str, ...]            # the noun classes it goes with (adjectives, transitive verbs)
    chinese: tuple[str, ...]          # segmented; an adjective's before a noun
    predicate: tuple[str, ...]        # an adjective's Chinese after a noun
    measure: str                      # a noun's Chinese measure word
    sense: str | None                 # "bank.river" where the table tells senses apart
    row: Row

    @property
    def lemma(self) -> str:
        """The first of its forms: a noun's singular, a verb's base form."""
        return next(iter(self.forms.values()))

    def __hash__(self) -> int:
        return hash(self.key)


class Lexicon:
    """All words of the tables by their keys, in the tables' order.

    Raises:
        TableError: a duplicate or an ambiguity that no sense tells apart; it names the rows.
    """

    def __init__(self, words: Iterable[Word]):
        self.words: dict[str, Word] = {}
        for word in words:
            if word.key in self.words:
                raise clash(f"'{word.key}' stands twice: fill the sense column of both, or drop one",
                            self.words[word.key].row, word.row)
            self.words[word.key] = word

    def __getitem__(self, key: str) -> Word:
        """The word with this key; KeyError for an unknown one."""
        return self.words[key]

    def __contains__(self, key: str) -> bool:
        return key in self.words

    def __iter__(self):
        return iter(self.words.values())

    @cached_property
    def readings(self) -> dict[str, list[tuple[Word, str]]]:
        """Surface form → its readings (word, form); forms of one word that look alike count once."""
        found: dict[str, list[tuple[Word, str]]] = defaultdict(list)
        for word in self:
            for form, surface in word.forms.items():
                if all(other is not word for other, _ in found[surface]):
                    found[surface].append((word, form))
        return dict(found)

    @cached_property
    def classes(self) -> dict[str, list[Word]]:
        """Class → its words, in the tables' order."""
        found: dict[str, list[Word]] = defaultdict(list)
        for word in self:
            for name in word.classes:
                found[name].append(word)
        return dict(found)

    @cached_property
    def ambiguous(self) -> dict[str, tuple[str, ...]]:
        """Surface form → its senses, for the forms that have several."""
        senses = {surface: tuple(word.sense for word, _ in readings if word.sense)
                  for surface, readings in self.readings.items()}
        return {surface: found for surface, found in senses.items() if len(found) > 1}

    def restricted(self, kept: Iterable[str]) -> "Lexicon":
        """A lexicon with all these words, of which only those with lemma or key in ``kept`` keep their classes.

        Raises:
            TableError: a word is listed that the lexicon does not have.
        """
        listed = set(kept)
        known = {name for word in self for name in (word.lemma, word.key)}
        if not listed <= known:
            raise TableError(f"sizes.toml lists unknown words: {', '.join(sorted(listed - known))}")
        return Lexicon(word if {word.lemma, word.key} & listed else replace(word, classes=()) for word in self)


def suits(word: Word, noun: Word) -> bool:
    """Whether an adjective or a verb goes with a noun: they share a selectional class."""
    return any(name in noun.classes for name in word.suits)


def article(word: str) -> str:
    """The indefinite article by spelling: 'an' before a vowel letter, else 'a'.

    The tables avoid words that are spelled otherwise than they sound.
    """
    return "an" if word[0] in VOWELS else "a"


def read_lexicon(folder: Path = TABLES) -> Lexicon:
    """The lexicon of the four word tables: nouns, verbs, adjectives and all others.

    Raises:
        TableError: a gap, a duplicate, or an ambiguity that no sense tells apart; it names file and rows.
    """
    words = [_noun(row) for row in read_table("nouns.tsv", required=("word", "plural", "chinese", "measure"),
                                              folder=folder)]
    words += [_verb(row) for row in read_table("verbs.tsv", required=("base", "past", "chinese"), folder=folder)]
    words += [_adjective(row) for row in read_table("adjectives.tsv", folder=folder,
                                                    required=("word", "chinese", "predicate"))]
    words += [_other(row) for row in read_table("words.tsv", required=("word", "tag"), folder=folder)]
    return Lexicon(words)


def _noun(row: Row) -> Word:
    singular, plural = row["word"], row["plural"]
    forms = {"sg": singular}
    if plural != "-":
        forms["pl"] = with_s(singular) if plural == "*" else plural
    return _word(row, "NOUN", forms)


def _verb(row: Row) -> Word:
    base = row["base"]
    regular = {"third": with_s(base), "past": with_ed(base), "ing": with_ing(base), "participle": with_ed(base)}
    forms = {form: made if row[form] == "*" else row[form] for form, made in regular.items()}
    return _word(row, "VERB", {"base": base} | forms)


def _adjective(row: Row) -> Word:
    return _word(row, "ADJ", {"plain": row["word"]})


def _other(row: Row) -> Word:
    return _word(row, row["tag"], {"plain": row["word"]})


def _word(row: Row, tag: str, forms: dict[str, str]) -> Word:
    cells = row.cells
    sense = cells.get("sense") or None
    lemma = next(iter(forms.values()))
    return Word(
        key=sense or f"{lemma}.{tag.lower()}", tag=tag, forms=forms,
        classes=row.items("classes") if "classes" in cells else (),
        suits=row.items("suits") if "suits" in cells else (),
        chinese=row.words("chinese") if "chinese" in cells else (),
        predicate=row.words("predicate") if "predicate" in cells else (),
        measure=cells.get("measure", ""), sense=sense, row=row)


def with_s(word: str) -> str:
    """The regular -s of plurals and third persons: key → keys, bus → buses, cherry → cherries."""
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def with_ed(word: str) -> str:
    """The regular past: wait → waited, smile → smiled, cry → cried."""
    if word.endswith("e"):
        return word + "d"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ied"
    return word + "ed"


def with_ing(word: str) -> str:
    """The regular -ing: wait → waiting (verbs that drop or double a letter stand written out)."""
    return word + "ing"
