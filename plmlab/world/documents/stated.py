"""Fact extraction from generated text: which facts a sentence states, and how many of them are true in the world.

Each row from which articles are written becomes a regular expression whose placeholders match the names and values of
the world. Goodrich et al. (2019, "Assessing the factual accuracy of generated text") train a model for this step.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from plmlab.world.documents.article_rows import ArticleRow
from plmlab.world.documents.articles import Library
from plmlab.world.documents.templates import AGREEING, KIND_NOUNS, PRONOUNS, WITH_THE, Blank, surface
from plmlab.world.facts.relations import NAMED, Triple
from plmlab.world.grammar.patterns import GENDER_WORDS, Literal


class FactCounts(NamedTuple):
    """Numbers of different facts that a text states, and of its sentences that no row matches."""

    true: int
    false: int
    unmatched: int


class FactExtractor:
    """Extracts the facts that generated sentences state, and the named entities that they mention.

    A new combination of the parts of names (a first name with the surname of another family) counts as the name of a
    nonexistent entity, and all facts about it are false. Agreement is not checked, so that "she" may refer to a man.
    """

    def __init__(self, library: Library):
        self.facts, self.lexicon, self.true = library.facts, library.lexicon, frozenset(library.facts.triples)
        names = {kind: _names([entity.words for entity in self.facts.kind(kind)]) for kind in NAMED}
        longest_first = _either(sorted(chain(*names.values()), key=lambda name: -name.count(" ")))
        self.mention = re.compile(rf"(?<!\S){longest_first}(?!\S)")
        self.names = {kind: ("(?:the )?" if kind in WITH_THE else "") + _either(some) for kind, some in names.items()}
        self.rows = []
        for row in chain(*(rows for topics in library.rows.values() for rows in topics.values())):
            fillers = {variable: self._fillers(row, variable) for variable in ("e", *row.atoms)}
            self.rows.append((row, re.compile(" ".join(_elements(row, fillers))), fillers))

    def _fillers(self, row: ArticleRow, variable: str) -> dict[str, str]:
        """Regular expression → the key of the value that it matches, or "person:" and the like if it matches names."""
        kinds = row.kinds(variable, self.facts.relations)
        return {self.names[kind]: f"{kind}:" for kind in kinds if kind in NAMED} | {
            re.escape(surface(value, row.template.blanks[variable].form, self.lexicon)): value.key
            for value in self.facts.kind(*kinds) if not value.named}

    def readings(self, words: Sequence[str], entity: str) -> Iterator[tuple[Triple, ...]]:
        """The facts that a sentence states according to each row that matches it."""
        text = " ".join(words)
        for row, pattern, fillers in self.rows:
            match = pattern.fullmatch(text)
            if match and (match.groupdict().get("e") or self.facts[entity].kind == row.kind):
                keys = {variable: [_key(name, fillers[variable]) for name in re.split(" , | and ", found)]
                        for variable, found in match.groupdict().items() if found}
                yield row.facts({"e": [entity], **keys}, self.facts.relations)

    def stated(self, words: Sequence[str], entity: str) -> tuple[Triple, ...] | None:
        """The facts that a sentence states; empty for a sentence without facts, None if no row matches.

        Pronouns, "there" and phrases such as "the town" refer to the ``entity`` (its key); another name in their place
        makes the sentence one about the entity of that name. Of several readings, the one with the most facts counts.
        """
        return max(self.readings(words, entity), key=len, default=None)

    def count(self, words: Sequence[str], entity: str, true: Collection[Triple] | None = None) -> FactCounts:
        """Count the true and the false facts that a text about the ``entity`` states, whose sentences end with ".".

        ``true`` contains the facts that count as true, by default all facts of the world. With the facts that the
        source of the text states, the counts measure faithfulness to the source.
        """
        found = [self.stated(part.split(), entity) for part in re.findall(r".+?(?: \.(?!\S)|$)", " ".join(words))]
        facts = {fact for some in found for fact in some or ()}
        right = sum(fact in (self.true if true is None else true) for fact in facts)
        return FactCounts(right, len(facts) - right, found.count(None))

    def entity_precision(self, words: Sequence[str], source: Sequence[str]) -> float | None:
        """The fraction of a text's mentions of named entities that occur in the source; None without a mention (Nan et
        al., 2021, "Entity-level factual consistency of abstractive text summarization")."""
        names, text = self.mention.findall(" ".join(words)), f" {' '.join(source)} "
        return sum(f" {name} " in text for name in names) / len(names) if names else None


def _elements(row: ArticleRow, fillers: dict[str, dict[str, str]]) -> Iterator[str]:
    """A regular expression for each element of the row, in which a group captures the words of a variable."""
    pronouns = {word: GENDER_WORDS[word] if row.kind == "person" else (it,) for word, it in PRONOUNS.items()}
    name = "(?P=e)" if "e" in row.template.blanks else f"(?P<e>{_either(fillers['e'])})"
    for element in row.template.english:
        if isinstance(element, Literal):
            yield re.escape(element.surface)
        elif isinstance(element, Blank):
            one = _either(fillers[element.name])
            more = f"(?:(?: , {one})* and {one})?"
            yield "an? " * element.article + f"(?P<{element.name}>{one}{more * element.several})"
        elif element.word == "his" or element.word not in ("the", *pronouns):
            yield _either(pronouns.get(element.word, AGREEING[element.word]))
        else:
            yield _either([*pronouns.get(element.word, ()), f"the {KIND_NOUNS[row.kind][0]}", name])
            name = "(?P=e)"


def _key(name: str, fillers: dict[str, str]) -> str:
    """The key of an entity by its name; for a new name, the key that its entity would have."""
    found = fillers.get(re.escape(name)) or next(key for pattern, key in fillers.items() if re.fullmatch(pattern, name))
    return found + name.removeprefix("the ") if found.endswith(":") else found


def _names(names: Sequence[tuple[str, ...]]) -> list[str]:
    """Regular expressions for names and for new combinations of their parts, one for each length."""
    groups = [[words for words in names if len(words) == length] for length in dict.fromkeys(map(len, names))]
    return [" ".join(_either(map(re.escape, part)) for part in zip(*group, strict=True)) for group in groups]


def _either(patterns: Iterable[str]) -> str:
    """A regular expression for any of the patterns; it matches nothing if there are none."""
    return f"(?:{'|'.join(dict.fromkeys(patterns)) or '(?!)'})"
