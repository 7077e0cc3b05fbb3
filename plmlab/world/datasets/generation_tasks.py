"""Two generation tasks: translating a sentence into Chinese (translation), and summarizing an article (summarization).

Two thirds of the test articles for summarization occur in the training text of the world; the others are about entities
that no training text mentions. There are few articles, and few names from which to learn copying, so each article
appears in several wordings.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from random import Random
from statistics import fmean
from typing import NamedTuple

from plmlab import world
from plmlab.draws import shuffled
from plmlab.metrics import bleu, rouge
from plmlab.world.datasets.tokenizer import bilingual_tokenizer
from plmlab.world.documents.articles import Article, Library

PAIRS, TEST_SIZE, DEVELOPMENT = 8192, 300, 100
"""Training pairs for translation; test rows; and development rows, for choosing learning rates and weights."""
READ, CHOSEN = 67, 45
"""Articles of the pretraining text that are held out for the summarization test set, and for development."""
WORDINGS = 8
"""Number of versions of an article, each with other words and another order."""

Row = tuple[tuple[int, ...], tuple[int, ...]]
"""Token ids of a source and of its target."""


class GenerationTask(NamedTuple):
    """Training, development and test rows, where the first ``read`` test rows occur in the world's training text."""

    train: tuple[Row, ...]
    development: tuple[Row, ...]
    test_set: tuple[Row, ...]
    read: int = 0


def bilingual_ids(words: Sequence[str]) -> tuple[int, ...]:
    """Token ids of words in the `bilingual_tokenizer`."""
    return tuple(bilingual_tokenizer().encode(" ".join(words), plain=True))


@cache
def translation() -> GenerationTask:
    """English sentences and their Chinese translations. Test and development sentences occur in no training text: they
    are generated from patterns whose sentences are split between training and test."""
    full = world.full()

    def rows(split: str, seed: int, unread: bool = False) -> Iterator[Row]:
        return ((bilingual_ids(one.words), bilingual_ids(one.chinese)) for one in full.sentences(split, seed)
                if not unread or one.pattern in full.open_patterns)

    unseen = list(islice(dict.fromkeys(islice(rows("test", 77, unread=True), 2 * TEST_SIZE)), TEST_SIZE + DEVELOPMENT))
    return GenerationTask(tuple(islice(rows("train", 79), PAIRS)), tuple(unseen[TEST_SIZE:]), tuple(unseen[:TEST_SIZE]))


class SummarizationEntities(NamedTuple):
    """The entities about which the training, development and test articles of `summarization` are. All but the first
    `READ` test entities occur in no training text."""

    train: tuple[str, ...]
    development: tuple[str, ...]
    test_set: tuple[str, ...]


@cache
def summarization_entities() -> SummarizationEntities:
    """A random division of the entities with an article in the training text, and all other entities for testing."""
    in_training, all_of_them = (world.full().corpora.articles(split) for split in ("train", "facts"))
    entities = shuffled(Random("gist"), list(in_training))
    unseen = [entity for entity in all_of_them if entity not in in_training]
    return SummarizationEntities(tuple(entities[READ + CHOSEN:]), tuple(entities[READ:READ + CHOSEN]),
                                 (*entities[:READ], *unseen))


def wordings(entities: Sequence[str], numbers: Iterable[int]) -> Iterator[Article]:
    """The articles of the training text about some entities, each once in every wording with these numbers."""
    full = world.full()
    for number in numbers:
        library = Library(full.facts, full.held, full.seed + number)
        yield from (library.article(entity, "train") for entity in entities)


@cache
def summarization() -> GenerationTask:
    """Articles and gist sentences that summarize them: the first sentence of the article, and usually one more.
    Training articles are about other entities, each in `WORDINGS` wordings."""
    def row(article: Article) -> Row:
        words = [word for place in article.gist for word in article.sentences[place].words]
        return bilingual_ids(article.words), bilingual_ids(words)

    full, entities = world.full(), summarization_entities()
    in_training, all_of_them = (full.corpora.articles(split) for split in ("train", "facts"))
    return GenerationTask(
        tuple(map(row, wordings(entities.train, range(WORDINGS)))),
        tuple(row(in_training[entity]) for entity in entities.development),
        tuple(row((in_training if entity in in_training else all_of_them)[entity]) for entity in entities.test_set),
        READ)


def exact_match(said: Sequence[Sequence[int]], rows: Sequence[Row]) -> float:
    """Fraction of the texts that equal their targets."""
    return fmean(tuple(text) == target for text, (_, target) in zip(said, rows, strict=True))


def scores_of(said: Sequence[Sequence[int]], rows: Sequence[Row]) -> dict[str, float]:
    """The fraction of ``exact`` matches, from 0 to 1; and ``bleu`` and ``rouge-l`` over words, from 0 to 100."""
    candidates, references = ([" ".join(f"w{token}" for token in text) for text in side]
                              for side in (said, [target for _, target in rows]))
    return {"exact": exact_match(said, rows),
            "bleu": bleu(candidates, references), "rouge-l": 100 * rouge(candidates, references).rougeL}
