"""The vocabulary of the world's texts, and a tokenizer with one token per word."""

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
"""Words that Chinese templates use for pronouns, relatives and lists."""

Words = tuple[set[str], set[str]]


def build_world_tokenizer(world: World, languages: Collection[str] = LANGUAGES,
                          texts: Collection[str] = ("sentences", "articles", "questions")) -> Tokenizer:
    """Build a tokenizer with one token per word of the given texts of a world, in the given languages ("stories" has
    many more words).

    Raises:
        ValueError: for an unknown language or text.
    """
    for given, known in ((languages, LANGUAGES), (texts, TEXTS)):
        if isinstance(given, str) or not given or not set(given) <= set(known):
            raise ValueError(f"{given!r:.60} was given; give a list with one or more of {', '.join(known)}")
    words: list[str] = []
    for text in TEXTS:
        if text in texts:
            for language, found in zip(LANGUAGES, TEXTS[text](world), strict=True):
                words += sorted(found) if language in languages else []
    return word_tokenizer(words)


def build_bilingual_tokenizer(world: World) -> Tokenizer:
    """Build a tokenizer with one token per English word of a world, with the same ids as in the English tokenizer, and
    one per Chinese word of its sentences and articles."""
    chinese = build_world_tokenizer(world, ["chinese"], ["sentences", "articles"])
    return word_tokenizer(name for tokens in (build_world_tokenizer(world, ["english"]), chinese)
                          for name in tokens.tokens(range(len(tokens))))


@cache
def world_tokenizer() -> Tokenizer:
    """The tokenizer of the bundled checkpoints: one token per English word of the full world."""
    return build_world_tokenizer(full(), ["english"])


@cache
def bilingual_tokenizer() -> Tokenizer:
    """The tokenizer of the bundled bilingual checkpoints; the ids of `ids` are also valid for this tokenizer."""
    return build_bilingual_tokenizer(full())


@cache
def small_world_tokenizer() -> Tokenizer:
    """The tokenizer of models trained on the sentences of the small world: one token per English word."""
    return build_world_tokenizer(small(), ["english"], ["sentences"])


def ids(words: Sequence[str]) -> list[int]:
    """Convert words of the full world to ids, one token per word."""
    return world_tokenizer().encode(" ".join(words), plain=True)


def sentence_words(world: World) -> Words:
    """The English and Chinese words of the sentence grammar, including held-out words."""
    chinese: set[str] = set()
    for split in ("train", "facts", "entities", "combinations"):
        chinese |= chinese_words(world.automaton(split), world.patterns, world.facts, world.lexicon)
    return set(world.vocabulary), chinese


def article_words(world: World) -> Words:
    """The English and Chinese words of all articles, both of the training corpus and of the corpus that states every
    fact."""
    sentences = [sentence for split in ("train", "facts") for article in world.corpora.articles(split).values()
                 for sentence in article.sentences]
    return ({word for sentence in sentences for word in sentence.words},
            {word for sentence in sentences for word in sentence.chinese})


def question_words(world: World) -> Words:
    """The English and Chinese words of question wordings, of yes and no, and of all names."""
    wordings = [wording for shape in world.question_bank.shapes for wording in shape.wordings]
    english, chinese = _names(world)
    english |= {word for wording in wordings for word in wording.english} | {*YES[0], *NO[0]}
    english |= {form for forms in GENDER_WORDS.values() for form in forms}
    chinese |= {word for wording in wordings for word in wording.chinese} | {*YES[1], *NO[1], *SPOKEN.split()}
    return _without_positions(english), _without_positions(chinese)


def story_words(world: World) -> Words:
    """The English and Chinese words that stories may use: every form of every word of the lexicon, and all names."""
    lexicon = wide_lexicon(world.folder)
    english, chinese = _names(world)
    english |= {form for word in lexicon for form in word.forms.values()}
    for word in lexicon:
        chinese |= {*word.chinese, *word.predicate, *([word.measure] if word.measure else [])}
    for name in STORY_TABLES:
        chinese |= {part for row in read_table(name, required=("chinese",), folder=world.folder)
                    for part in row.words("chinese")}
    chinese |= {word for pair in DETERMINERS.values() for word in pair} | set(SPOKEN.split())
    chinese |= {part for _, noun in KIND_NOUNS.values() for part in noun.split()}
    return english, _without_positions(chinese)


TEXTS = {"sentences": sentence_words, "articles": article_words, "questions": question_words, "stories": story_words}


def _names(world: World) -> Words:
    """The English and Chinese words of all entities, in every form for crafts, foods and the like."""
    entities = world.facts.entities.values()
    common = [world.lexicon[entity.traits["word"]] for entity in entities if "word" in entity.traits]
    return ({word for entity in entities for word in entity.words} | {f for w in common for f in w.forms.values()},
            {word for entity in entities for word in entity.chinese})


def _without_positions(words: set[str]) -> set[str]:
    return {word for word in words if not word.startswith("{") and word != "|"}
