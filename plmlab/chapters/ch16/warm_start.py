"""Where REALM begins in chapter 16, without a label: a retriever that has done the inverse cloze task, and a reader
that has filled salient spans with BM25's best document in sight.

In the paper the reader begins as BERT. Ours would learn in the first thousand updates only that an answer can be copied
from a document at all; with BM25's documents that costs a fifth of the time, for one is read and not five.
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random

from plmlab.chapters.ch16.corpora import TRAINING, Corpus, Statement, corpus
from plmlab.checkpoints import load
from plmlab.draws import choice, shuffled
from plmlab.example import Batch
from plmlab.models.bert import BERTPretraining
from plmlab.models.dual_encoder import DualEncoder
from plmlab.models.realm import REALM
from plmlab.objectives.inverse_cloze import MatchingBatch, inverse_cloze
from plmlab.objectives.reader_inputs import reader_input
from plmlab.retrieval import BM25, Retrieved
from plmlab.train import History, fit
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

NAME, PRETRAINED = "realm-start", "bert-world"
WIDTH = 64
"""Of the vectors that are compared."""
ICT_UPDATES, ICT_BATCH, ICT_RATE = 400, 32, 5e-4
READER_UPDATES, READER_BATCH, READER_RATE = 2000, 32, 5e-4


def started() -> REALM:
    """Both after their warm start, as it comes with the course."""
    found, _ = load(NAME, expect="realm")
    return found


def bert() -> BERTPretraining:
    """The course's BERT, which has read about another world."""
    found, _ = load(PRETRAINED, expect="bert-pretraining")
    return found


def untrained_embedder() -> DualEncoder:
    """A retriever that knows what BERT knows."""
    return DualEncoder.from_pretrained(bert().encoder, WIDTH)


def ict_batches(seed: int) -> Callable[[int], MatchingBatch]:
    """Step → blocks of one training world, each with a sentence of it."""
    vocab = world_tokenizer().vocab

    def batch(step: int) -> MatchingBatch:
        rng = Random(f"{seed}:{step}")
        some = shuffled(rng, corpus(choice(rng, TRAINING)).blocks)[:ICT_BATCH]
        return MatchingBatch.of([inverse_cloze(ids(one.title.split()), [ids(each.split()) for each in one.sentences],
                                               vocab=vocab, rng=rng) for one in some], pad=vocab.need("pad"))
    return batch


class Ranking:
    """The documents of a corpus, ranked by the words that they share with what is left of a statement."""

    def __init__(self, told: Corpus) -> None:
        self._index = BM25([f"{block.title} {block.text}".split() for block in told.blocks])

    def by_words(self, words: Sequence[str], most: int) -> Retrieved:
        """The ``most`` best documents for some words."""
        return self._index.search([words], most)

    def best(self, statement: Statement, most: int) -> Retrieved:
        """The ``most`` best documents for a statement, its source left out."""
        hidden = {*statement.salient}
        words = [word for place, word in enumerate(statement.cloze.words) if place not in hidden]
        return self.by_words(words, most + 1).without([statement.query().excluded], most)


@cache
def ranking(seed: int) -> Ranking:
    """That of a medium world."""
    return Ranking(corpus(seed))


@cache
def _first(seed: int) -> list[int]:
    return [int(ranking(seed).best(statement, 1).numbers) for statement in corpus(seed).statements]


def reader_batches(seed: int) -> Callable[[int], Batch]:
    """Step → statements of one training world, each with the document that BM25 holds best."""
    vocab = world_tokenizer().vocab

    def batch(step: int) -> Batch:
        rng = Random(f"{seed}:{step}")
        world = choice(rng, TRAINING)
        told, first = corpus(world), _first(world)
        some = shuffled(rng, range(len(told.statements)))[:READER_BATCH]
        return Batch.of([reader_input(told.statements[one].tokens, ids(told.blocks[first[one]].text.split()),
                                      vocab=vocab,
                                   rng=rng, hidden=told.statements[one].salient) for one in some],
                        pad=vocab.need("pad"))
    return batch


def learn_to_match(embedder: DualEncoder, seed: int, updates: int = ICT_UPDATES, **options: object) -> History:
    """Warm a retriever up; ``options`` go to `fit`."""
    return fit(embedder, ict_batches(seed), steps=updates, lr=ICT_RATE, warmup=updates // 10, compile=False,
               **options)  # type: ignore[arg-type]


def learn_to_read(reader: BERTPretraining, seed: int, updates: int = READER_UPDATES, **options: object) -> History:
    """Warm a reader up."""
    return fit(reader, reader_batches(seed), steps=updates, lr=READER_RATE, warmup=updates // 20, compile=False,
               **options)  # type: ignore[arg-type]
