"""The lexicon: every common word with its part of speech, forms, classes, sense and Chinese translation."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from plmlab.world.tables import TABLES, Row, TableError, clash, read_table

VOWELS = "aeiouAEIOU"


@dataclass(frozen=True)
class Word:
    """A lexicon entry: one row of a table, for one sense and one part of speech."""

    key: str                          # unique name: "key.noun", or its sense: "bank.river"
    tag: str                          # NOUN VERB ADJ ADV DET PRON ADP AUX CCONJ SCONJ PART NUM INTJ PUNCT
    forms: dict[str, str]             # "sg" and "pl"; "base" "third" "past" "ing" "participle"; else "plain"
    classes: tuple[str, ...]          # its selectional classes
    suits: tuple[str, ...]            # the noun classes it combines with (adjectives, transitive verbs)
    chinese: tuple[str, ...]          # segmented; the form before a noun for adjectives
    predicate: tuple[str, ...]        # the Chinese of an adjective after a noun
    measure: str                      # a noun's Chinese measure word
    sense: str | None                 # "bank.river" if the table distinguishes senses
    row: Row

    @property
    def lemma(self) -> str:
        """The first form: the singular of a noun, the base form of a verb."""
        return next(iter(self.forms.values()))

    def __hash__(self) -> int:
        return hash(self.key)


class Lexicon:
    """All words of the tables by their keys, in the tables' order.

    Raises:
        TableError: for a duplicate, or an ambiguity not resolved by a sense; the message names the rows.
    """

    def __init__(self, words: Iterable[Word]):
        self.words: dict[str, Word] = {}
        for word in words:
            if word.key in self.words:
                raise clash(f"'{word.key}' occurs twice; fill in the sense column of both, or remove one",
                            self.words[word.key].row, word.row)
            self.words[word.key] = word

    def __getitem__(self, key: str) -> Word:
        """The word with this key. Raises KeyError for an unknown key."""
        return self.words[key]

    def __contains__(self, key: str) -> bool:
        return key in self.words

    def __iter__(self):
        return iter(self.words.values())

    @cached_property
    def readings(self) -> dict[str, list[tuple[Word, str]]]:
        """Surface form → its readings (word, form); identical forms of one word count once."""
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
        """Surface form → its senses, for forms with several senses."""
        senses = {surface: tuple(word.sense for word, _ in readings if word.sense)
                  for surface, readings in self.readings.items()}
        return {surface: found for surface, found in senses.items() if len(found) > 1}

    def restricted(self, kept: Iterable[str]) -> "Lexicon":
        """A lexicon with the same words, in which only those with lemma or key in ``kept`` keep their classes.

        Raises:
            TableError: if a listed word is not in the lexicon.
        """
        listed = set(kept)
        known = {name for word in self for name in (word.lemma, word.key)}
        if not listed <= known:
            raise TableError(f"sizes.toml lists unknown words: {', '.join(sorted(listed - known))}")
        return Lexicon(word if {word.lemma, word.key} & listed else replace(word, classes=()) for word in self)


def suits(word: Word, noun: Word) -> bool:
    """Whether an adjective or a verb combines with a noun, because they share a selectional class."""
    return any(name in noun.classes for name in word.suits)


def article(word: str) -> str:
    """The indefinite article by spelling: 'an' before a vowel letter, otherwise 'a'.

    The tables avoid words where spelling and pronunciation call for different articles.
    """
    return "an" if word[0] in VOWELS else "a"


def read_lexicon(folder: Path = TABLES) -> Lexicon:
    """Read the lexicon from the four word tables: nouns, verbs, adjectives and all other words.

    Raises:
        TableError: for an empty cell, a duplicate, or an ambiguity not resolved by a sense; the message names file and
            rows.
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
    """The regular -ing form: wait → waiting (verbs that drop or double a letter are listed in full)."""
    return word + "ing"
