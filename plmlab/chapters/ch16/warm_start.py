"""Initialization of REALM in chapter 16, without labels: a retriever trained on the inverse cloze task, and a reader
trained to predict masked salient spans given BM25's top document.

In the paper the reader is initialized from BERT. Ours would then need the first thousand updates to learn that an
answer can be copied from a document. With BM25's top document, one instead of five, this takes a fifth of the time.
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random

from plmlab.chapters.ch16.corpora import Corpus, Statement, corpus
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
from plmlab.world.datasets.fact_documents import TRAINING
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

NAME, PRETRAINED = "realm-start", "bert-world"
WIDTH = 64
"""Dimension of the retrieval embeddings."""
ICT_UPDATES, ICT_BATCH, ICT_RATE = 400, 32, 5e-4
READER_UPDATES, READER_BATCH, READER_RATE = 2000, 32, 5e-4


def warm_started() -> REALM:
    """The bundled retriever and reader after their warm start."""
    realm, _ = load(NAME, expect="realm")
    return realm


def bert() -> BERTPretraining:
    """The bundled BERT, which is pretrained on text about another world."""
    model, _ = load(PRETRAINED, expect="bert-pretraining")
    return model


def untrained_embedder() -> DualEncoder:
    """A retriever initialized with BERT's weights and not trained to retrieve."""
    return DualEncoder.from_pretrained(bert().encoder, WIDTH)


def ict_batches(seed: int) -> Callable[[int], MatchingBatch]:
    """Return a function from a step to blocks of one training world, each with one of its sentences as a query."""
    vocab = world_tokenizer().vocab

    def batch(step: int) -> MatchingBatch:
        rng = Random(f"{seed}:{step}")
        some = shuffled(rng, corpus(choice(rng, TRAINING)).blocks)[:ICT_BATCH]
        return MatchingBatch.of([inverse_cloze(ids(one.title.split()), [ids(each.split()) for each in one.sentences],
                                               vocab=vocab, rng=rng) for one in some], pad=vocab.need("pad"))
    return batch


class Ranking:
    """BM25 ranking of the documents of a corpus, by the visible words of a statement."""

    def __init__(self, corpus: Corpus) -> None:
        self._index = BM25([f"{block.title} {block.text}".split() for block in corpus.blocks])

    def by_words(self, words: Sequence[str], top_k: int) -> Retrieved:
        """The top ``top_k`` documents for these words."""
        return self._index.search([words], top_k)

    def best(self, statement: Statement, top_k: int) -> Retrieved:
        """The top ``top_k`` documents for a statement, without its source."""
        hidden = {*statement.salient}
        words = [word for place, word in enumerate(statement.cloze.words) if place not in hidden]
        return self.by_words(words, top_k + 1).without([statement.query().excluded], top_k)


@cache
def ranking(seed: int) -> Ranking:
    """The ranking for a medium world."""
    return Ranking(corpus(seed))


@cache
def _first(seed: int) -> list[int]:
    return [int(ranking(seed).best(statement, 1).numbers) for statement in corpus(seed).statements]


def reader_batches(seed: int) -> Callable[[int], Batch]:
    """Return a function from a step to statements of one training world, each with BM25's top document."""
    vocab = world_tokenizer().vocab

    def batch(step: int) -> Batch:
        rng = Random(f"{seed}:{step}")
        world = choice(rng, TRAINING)
        documents, first = corpus(world), _first(world)
        indices = shuffled(rng, range(len(documents.statements)))[:READER_BATCH]
        return Batch.of([reader_input(documents.statements[i].tokens, ids(documents.blocks[first[i]].text.split()),
                                      vocab=vocab, rng=rng, hidden=documents.statements[i].salient) for i in indices],
                        pad=vocab.need("pad"))
    return batch


def train_inverse_cloze(embedder: DualEncoder, seed: int, updates: int = ICT_UPDATES, **options: object) -> History:
    """Warm-start a retriever with the inverse cloze task; ``options`` are passed to `fit`."""
    return fit(embedder, ict_batches(seed), steps=updates, lr=ICT_RATE, warmup=updates // 10, compile=False,
               **options)  # type: ignore[arg-type]


def learn_to_read(reader: BERTPretraining, seed: int, updates: int = READER_UPDATES, **options: object) -> History:
    """Warm-start a reader, with BM25's documents as context; ``options`` are passed to `fit`."""
    return fit(reader, reader_batches(seed), steps=updates, lr=READER_RATE, warmup=updates // 20, compile=False,
               **options)  # type: ignore[arg-type]
