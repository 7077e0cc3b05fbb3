"""The words of the world's texts, and a tokenizer with one token for each."""

from collections.abc import Collection, Sequence
from functools import cache

from plmlab.text.tokenizers import Tokenizer
from plmlab.text.words import word_tokenizer
from plmlab.world.documents.templates import KIND_NOUNS, wide_lexicon
from plmlab.world.grammar.chinese import DETERMINERS, chinese_words
from plmlab.world.grammar.patterns import GENDER_WORDS, PATTERN_TABLES
from plmlab.world.questions.bank import NO, YES
from plmlab.world.tables import read_table
from plmlab.world.world import World, full, small

LANGUAGES = ("english", "chinese")
STORY_TABLES = ("story_beats.tsv", "story_scenes.tsv", *PATTERN_TABLES)
SPOKEN = "他 她 丈夫 妻子 兄弟 姐妹 和 、 这么"
"""What Chinese templates write for pronouns, relatives and lists."""

Words = tuple[set[str], set[str]]


def build_world_tokenizer(world: World, languages: Collection[str] = LANGUAGES,
                    texts: Collection[str] = ("sentences", "articles", "questions")) -> Tokenizer:
    """One token for each word of some texts of a world, in some languages ("stories" has many more words).

    Raises:
        ValueError: no such language or text.
    """
    for asked, known in ((languages, LANGUAGES), (texts, TEXTS)):
        if isinstance(asked, str) or not asked or not set(asked) <= set(known):
            raise ValueError(f"{asked!r:.60} was given; the choice is among {', '.join(known)}: give a list of some")
    words: list[str] = []
    for text in TEXTS:
        if text in texts:
            for language, found in zip(LANGUAGES, TEXTS[text](world), strict=True):
                words += sorted(found) if language in languages else []
    return word_tokenizer(words)


def build_bilingual_tokenizer(world: World) -> Tokenizer:
    """One token for each English word of a world, with the id that it has where there is no Chinese; and for each
    Chinese word of its sentences and articles."""
    told = build_world_tokenizer(world, ["chinese"], ["sentences", "articles"])
    return word_tokenizer(name for tokens in (build_world_tokenizer(world, ["english"]), told)
                          for name in tokens.tokens(range(len(tokens))))


@cache
def world_tokenizer() -> Tokenizer:
    """The tokenizer of the course's own checkpoints: one token for each English word of the full world."""
    return build_world_tokenizer(full(), ["english"])


@cache
def bilingual_tokenizer() -> Tokenizer:
    """The tokenizer of the course's checkpoints that know Chinese too; `ids` are those of this tokenizer as well."""
    return build_bilingual_tokenizer(full())


@cache
def small_world_tokenizer() -> Tokenizer:
    """The tokenizer of what is trained on the small world's sentences: one token for each of their English words."""
    return build_world_tokenizer(small(), ["english"], ["sentences"])


def ids(words: Sequence[str]) -> list[int]:
    """The ids of some words of the full world, one token a word."""
    return world_tokenizer().encode(" ".join(words), plain=True)


def sentence_words(world: World) -> Words:
    """The English and the Chinese words of the sentence grammar, held-out words too."""
    said: set[str] = set()
    for split in ("train", "facts", "entities", "combinations"):
        said |= chinese_words(world.automaton(split), world.patterns, world.facts, world.lexicon)
    return set(world.vocabulary), said


def article_words(world: World) -> Words:
    """The English and the Chinese words of all articles: of the training corpus, and of those that tell every fact."""
    sentences = [sentence for split in ("train", "facts") for article in world.corpora.articles(split).values()
                 for sentence in article.sentences]
    return ({word for sentence in sentences for word in sentence.words},
            {word for sentence in sentences for word in sentence.chinese})


def question_words(world: World) -> Words:
    """The English and the Chinese words that questions are put in, those of yes and no, and every name."""
    wordings = [wording for shape in world.question_bank.shapes for wording in shape.wordings]
    english, said = _names(world)
    english |= {word for wording in wordings for word in wording.english} | {*YES[0], *NO[0]}
    english |= {form for forms in GENDER_WORDS.values() for form in forms}
    said |= {word for wording in wordings for word in wording.chinese} | {*YES[1], *NO[1], *SPOKEN.split()}
    return _without_positions(english), _without_positions(said)


def story_words(world: World) -> Words:
    """The words that stories may use, English and Chinese: every form of every word of the lexicon, and every name."""
    lexicon = wide_lexicon(world.folder)
    english, said = _names(world)
    english |= {form for word in lexicon for form in word.forms.values()}
    for word in lexicon:
        said |= {*word.chinese, *word.predicate, *([word.measure] if word.measure else [])}
    for name in STORY_TABLES:
        said |= {part for row in read_table(name, required=("chinese",), folder=world.folder)
                 for part in row.words("chinese")}
    said |= {word for pair in DETERMINERS.values() for word in pair} | set(SPOKEN.split())
    said |= {part for _, noun in KIND_NOUNS.values() for part in noun.split()}
    return english, _without_positions(said)


TEXTS = {"sentences": sentence_words, "articles": article_words, "questions": question_words, "stories": story_words}


def _names(world: World) -> Words:
    """The words of all entities, English and Chinese; of crafts, foods and the like in every form."""
    entities = world.facts.entities.values()
    common = [world.lexicon[entity.traits["word"]] for entity in entities if "word" in entity.traits]
    return ({word for entity in entities for word in entity.words} | {f for w in common for f in w.forms.values()},
            {word for entity in entities for word in entity.chinese})


def _without_positions(words: set[str]) -> set[str]:
    return {word for word in words if not word.startswith("{") and word != "|"}
