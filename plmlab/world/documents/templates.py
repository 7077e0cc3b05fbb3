"""Templates of articles and stories, in the language of the sentence patterns with additions for planned text.

In addition to the syntax of patterns (README.md of the tables), ``{r*:person}`` is a list (A , B and C), ``{he@e}`` a
reference to e, as he, she or it, or as the name where a pronoun could be misread; ``{the@e}`` is "the town", "the
film", ….
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plmlab.world.facts.relations import Entity, Triple
from plmlab.world.grammar.chinese import DETERMINERS
from plmlab.world.grammar.patterns import GENDER_WORDS, NUMBER_WORDS, Agreeing, Literal
from plmlab.world.grammar.patterns import _literal as literal
from plmlab.world.grammar.sentence import Mention, Sentence
from plmlab.world.grammar.splits import HeldOut
from plmlab.world.lexicon import Lexicon, Word, article, read_lexicon
from plmlab.world.tables import TABLES, Row, clash, read_table, unique

Thing = Entity | Word | tuple[Entity, ...]
Bindings = dict[str, Thing]

KIND_NOUNS = {"person": ("person", "这 个 人"), "town": ("town", "这 座 城镇"), "country": ("country", "这 个 国家"),
              "river": ("river", "这 条 河"), "film": ("film", "这 部 电影"), "book": ("book", "这 本 书"),
              "cafe": ("café", "这 家 咖啡馆"), "company": ("company", "这 家 公司")}
WITH_THE = ("cafe", "river")
PRONOUNS = {"he": "it", "his": "its", "him": "it"}                     # of a person, and of anything else
RELATIVES = {"husband": ("husband", "wife"), "brother": ("brother", "sister")}
VERBS = {third: (third, base) for third, base in (
    ("lives", "live"), ("works", "work"), ("lies", "lie"), ("plays", "play"), ("belongs", "belong"))}
AGREEING = NUMBER_WORDS | GENDER_WORDS | RELATIVES | VERBS | {"the": ("the",)}
CHINESE_FORMS = ("", "that", "this", "one", "m", "pred", "he", "the", "spouse", "sibling")
SLOT = re.compile(r"\{(?P<article>an\+)?(?P<name>\w+)(?P<several>\*)?(:(?P<domain>[\w,]+))?(\.(?P<form>\w+))?"
                  r"(@(?P<agrees>\w+))?(~(?P<suits>\w+))?\}")


@dataclass(frozen=True)
class Blank:
    """A placeholder for a variable in the template of an article or a story."""

    name: str
    domain: tuple[str, ...]      # kinds of entities or word classes; empty where the variable is repeated
    form: str
    several: bool                # a list of entities
    article: bool
    suits: str | None            # the noun that an adjective or verb combines with


@dataclass(frozen=True)
class Template:
    """One sentence with placeholders, in English and Chinese."""

    id: str
    english: tuple[Literal | Agreeing | Blank, ...]
    chinese: tuple[str, ...]
    row: Row

    @cached_property
    def blanks(self) -> dict[str, Blank]:
        """Variable → its first placeholder."""
        found: dict[str, Blank] = {}
        for element in self.english:
            if isinstance(element, Blank):
                found.setdefault(element.name, element)
        return found

    @cached_property
    def variables(self) -> frozenset[str]:
        """The variables that must be bound before the sentence can be written."""
        return frozenset(self.referred | set(self.blanks))

    @cached_property
    def referred(self) -> frozenset[str]:
        """The variables with which a function word of the template agrees."""
        return frozenset(element.agrees for element in self.english if isinstance(element, Agreeing))

    @cached_property
    def literals(self) -> list[Word]:
        """The literal words of the template."""
        return [element.word for element in self.english if isinstance(element, Literal)]


def parse_template(name: str, english: tuple[str, ...], chinese: tuple[str, ...], row: Row,
                   lexicon: Lexicon, known: Collection[str] = ()) -> Template:
    """Parse the template of one sentence of a row; ``known`` are the variables bound by other sentences of the row.

    Raises:
        TableError: for an unknown word, an invalid placeholder, English that does not end like a sentence, or a
            variable that occurs only in the Chinese; the message names the row.
    """
    template = Template(name, tuple(_element(text, row, lexicon) for text in english), chinese, row)
    if not english or english[-1] not in (".", "?", "!"):
        raise clash(f"the English of '{name}' does not end with . or ? or !", row)
    for text in chinese:
        variable, _, form = text[1:-1].partition(".")
        if text.startswith("{") and (variable not in {*template.variables, *known} or form not in CHINESE_FORMS):
            raise clash(f"'{text}' in the Chinese of '{name}': no such variable or form", row)
    return template


def _element(text: str, row: Row, lexicon: Lexicon) -> Literal | Agreeing | Blank:
    if not text.startswith("{"):
        return literal(text, row, lexicon)
    match = SLOT.fullmatch(text)
    if match is None:
        raise clash(f"'{text}' is not a placeholder; placeholders look like {{t}}, {{r*:person}} or {{he@e}}", row)
    part = match.groupdict()
    if part["agrees"]:
        if part["name"] not in AGREEING:
            raise clash(f"'{part['name']}' is not a word that agrees; these are:  {', '.join(AGREEING)}", row)
        return Agreeing(part["name"], part["agrees"])
    return Blank(part["name"], tuple((part["domain"] or "").split(",")) if part["domain"] else (), part["form"] or "",
                 bool(part["several"]), bool(part["article"]), part["suits"])


def wide_lexicon(folder: Path = TABLES) -> Lexicon:
    """The lexicon extended by the words that only articles and stories use (article_words.tsv)."""
    rows = read_table("article_words.tsv", required=("word", "tag"), folder=folder)
    unique(rows, "word", "tag")
    return Lexicon([*read_lexicon(folder), *(_extra(row) for row in rows)])


def _extra(row: Row) -> Word:
    return Word(key=f"{row['word']}.{row['tag'].lower()}", tag=row["tag"], forms={"plain": row["word"]}, classes=(),
                suits=(), chinese=(), predicate=(), measure="", sense=None, row=row)


class Line:
    """A sentence under construction: English words with their labels, and Chinese words."""

    def __init__(self, lexicon: Lexicon, bound: Bindings, spelled: Collection[str]):
        self.lexicon = lexicon
        self.bound = bound
        self.to_spell = set(spelled)
        self.words: list[str] = []
        self.tags: list[str] = []
        self.senses: list[str | None] = []
        self.mentions: list[Mention] = []
        self.names = frozenset(spelled)

    def add(self, surface: str, tag: str, word: Word | None = None) -> None:
        """Append one English word with its tag and, if the surface form is ambiguous, with the sense of ``word``."""
        self.words.append(surface)
        self.tags.append(tag)
        self.senses.append(word.sense if word and surface in self.lexicon.ambiguous else None)

    def mention(self, entity: Entity, words: Collection[str], *tags: str) -> None:
        """Append words as a mention of the entity; the tags, one per word, default to PROPN."""
        self.mentions.append(Mention(len(self.words), len(self.words) + len(words), entity.key))
        for word, tag in zip(words, tags or ["PROPN"] * len(words), strict=True):
            self.add(word, tag)

    def say(self, element: Literal | Agreeing | Blank) -> None:
        """Append the words of an element of the English template."""
        if isinstance(element, Literal):
            self.add(element.surface, element.word.tag, element.word)
        elif isinstance(element, Agreeing):
            self._agreeing(element.word, self.bound[element.agrees], element.agrees)
        else:
            self._blank(element, self.bound[element.name])

    def _agreeing(self, word: str, thing: Thing, variable: str) -> None:
        if word in PRONOUNS or word == "the":
            assert isinstance(thing, Entity)
            self._reference(word, thing, variable)
        elif word in RELATIVES:
            self.add(RELATIVES[word][is_woman(thing)], "NOUN")
        elif word in VERBS:
            self.add(VERBS[word][is_plural(thing)], "VERB")
        elif word == "its" and isinstance(thing, tuple) and len(thing) == 1:
            self.mention(thing[0], ("its",), "PRON")
        else:
            surface = NUMBER_WORDS[word][is_plural(thing)]
            self.add(surface, self.lexicon.readings[surface][0][0].tag)

    def _reference(self, word: str, entity: Entity, variable: str) -> None:
        spelled = word != "his" and variable in self.to_spell
        self.to_spell.discard(variable)
        if word == "the" or (spelled and entity.kind != "person"):
            self.mention(entity, ("the", KIND_NOUNS[entity.kind][0]), "DET", "NOUN")
        elif spelled:
            self.mention(entity, entity.words)
        else:
            pronoun = GENDER_WORDS[word][is_woman(entity)] if entity.kind == "person" else PRONOUNS[word]
            self.mention(entity, (pronoun,), "PRON")

    def _blank(self, blank: Blank, thing: Thing) -> None:
        if isinstance(thing, tuple):
            for place, entity in enumerate(thing):
                if place:
                    self.add(*(("and", "CCONJ") if place == len(thing) - 1 else (",", "PUNCT")))
                if entity.kind in WITH_THE:
                    self.add("the", "DET")
                self.mention(entity, entity.words)
            return
        words = surface(thing, blank.form, self.lexicon)
        if blank.article:
            self.add(article(words), "DET")
        if isinstance(thing, Entity) and thing.named:
            self.to_spell.discard(blank.name)
            self.mention(thing, thing.words)
        elif isinstance(thing, Entity) and "word" not in thing.traits:
            self.add(words, "NUM")
        else:
            word = _word(thing, self.lexicon)
            self.add(words, word.tag, word)

    def chinese(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """The Chinese words of a template, with its variables filled."""
        words: list[str] = []
        for part in parts:
            if part.startswith("{"):
                name, _, form = part[1:-1].partition(".")
                words += _chinese(self.bound[name], form, name in self.names, self.lexicon)
            else:
                words.append(part)
        return tuple(words)


def say(template: Template, bound: Bindings, lexicon: Lexicon, *, facts: tuple[Triple, ...] = (),
        logprob: float = 0.0, spelled: Collection[str] = ()) -> Sentence:
    """Build the sentence of a template with bound variables.

    Args:
        facts: the facts that the sentence states.
        logprob: its log-probability given the plan, in nats.
        spelled: variables whose first ``{he@…}`` or ``{him@…}`` is replaced by the name (people) or by "the film" and
            the like (things).
    """
    line = Line(lexicon, bound, spelled)
    for element in template.english:
        line.say(element)
    return Sentence(tuple(line.words), tuple(line.tags), tuple(line.senses), tuple(line.mentions), (), facts,
                    template.id, logprob, line.chinese(template.chinese))


def combines_held(template: Template, bound: Bindings, lexicon: Lexicon, held: HeldOut) -> bool:
    """Whether two words of the sentence form a combination held out of the training text."""
    words = list(template.literals)
    kinds = [thing.kind for name, thing in bound.items() if name in template.referred and isinstance(thing, Entity)]
    keys = [f"{KIND_NOUNS[kind][0]}.noun" for kind in kinds if kind in KIND_NOUNS]
    words += [lexicon[key] for key in keys if key in lexicon]
    words += [_word(thing, lexicon) for name, thing in bound.items() if name in template.variables
              and (isinstance(thing, Word) or (isinstance(thing, Entity) and "word" in thing.traits))]
    nouns = [word for word in words if word.tag == "NOUN"]
    return any((word.key, noun.key) in held.combinations for word in words if word.suits for noun in nouns)


def is_woman(thing: Thing) -> bool:
    """Whether the value is an entity with the gender "woman"."""
    return isinstance(thing, Entity) and thing.traits.get("gender") == "woman"


def is_plural(thing: Thing) -> bool:
    """Whether the value is a list of two or more entities."""
    return isinstance(thing, tuple) and len(thing) > 1


def _word(thing: Thing, lexicon: Lexicon) -> Word:
    """The lexicon entry of a word, or of the word for a value such as craft:baker."""
    if isinstance(thing, Word):
        return thing
    assert isinstance(thing, Entity)
    return lexicon[thing.traits["word"]]


def surface(thing: Entity | Word, form: str, lexicon: Lexicon) -> str:
    """The word of a value, or of a lexicon entry in this form; the first word of a name."""
    if isinstance(thing, Entity) and "word" not in thing.traits:
        return thing.words[0]
    word = _word(thing, lexicon)
    return word.forms[form] if form else word.lemma


def _chinese(thing: Thing, form: str, spelled: bool, lexicon: Lexicon) -> tuple[str, ...]:
    if isinstance(thing, tuple):
        joined: list[str] = []
        for place, entity in enumerate(thing):
            joined += (["和"] if place == len(thing) - 1 else ["、"]) if place else []
            joined += entity.chinese
        return tuple(joined)
    if form in ("spouse", "sibling"):
        return ({"spouse": ("丈夫", "妻子"), "sibling": ("兄弟", "姐妹")}[form][is_woman(thing)],)
    if form in ("he", "the"):
        assert isinstance(thing, Entity)
        if form == "the" or thing.kind != "person":
            return tuple(KIND_NOUNS[thing.kind][1].split())
        return thing.chinese if spelled else ("她",) if is_woman(thing) else ("他",)
    if not form:
        return thing.chinese
    word = _word(thing, lexicon)
    if form in DETERMINERS:
        return (DETERMINERS[form][0], word.measure)
    return (word.measure,) if form == "m" else word.predicate
