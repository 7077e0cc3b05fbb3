"""Baselines for REALM, on the same statements: BM25, a supervised retriever, and REALM's reader given the right
document, no document, or a random document.

A retrieval baseline passes its documents to REALM's own reader, which was warm-started with BM25's top document, and
then trained with the documents of REALM's retriever. A ``gold document`` states the fact, but some blocks do so only
together with the title, which the reader does not see.
"""

from collections.abc import Callable, Sequence
from random import Random
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch16.arms import BATCH, FULL, SEEDS, fit_model, initialized, outcomes, questions, stored_model
from plmlab.chapters.ch16.baselines import Given, by_bm25, gold_document
from plmlab.chapters.ch16.corpora import Statement, corpus
from plmlab.chapters.ch16.training import with_corpus
from plmlab.draws import choice, randint, shuffled
from plmlab.example import Example
from plmlab.models.realm import REALM
from plmlab.models.retrieve_and_read import TOP_K
from plmlab.objectives.inverse_cloze import MatchingBatch
from plmlab.objectives.reader_inputs import pair_input, query_input
from plmlab.recipes import Parts, seed_statistics
from plmlab.retrieval import NULL, Retrieved
from plmlab.world.datasets.fact_documents import DEVELOPMENT, TEST_WORLDS, TRAINING
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Temperatures for BM25's scores before the softmax; the best on the development world is used."""


def shown(model: REALM, given: Given, worlds: Sequence[int]) -> dict[str, float]:
    """The reader's results with given documents: the fractions of statements whose fact is stated in the ``first``
    document and in one of the top four (``among four``), and that are answered correctly (``right``)."""
    rows = []
    for world in worlds:
        lookup = with_corpus(model, world)
        for statement in questions(world):
            reading = lookup.read_with(statement.query(), given(world, statement))
            rows.append((reading.numbers[0] in statement.tell, not statement.tell.isdisjoint(reading.numbers),
                         reading.answers[0] == statement.answer))
    return dict(zip(("first", "among four", "right"), (fmean(column) for column in zip(*rows, strict=True)),
                    strict=True))


def random_document(world: int, statement: Statement) -> Retrieved:
    """A random document."""
    return Retrieved.of([[randint(Random(" ".join(statement.cloze.words)), len(corpus(world).blocks))]])


def null_document(world: int, statement: Statement) -> Retrieved:
    """The null document."""
    return Retrieved.of([[NULL]])


def matched(seed: int) -> Callable[[int], MatchingBatch]:
    """Return a function from a step to statements of one training world, each with a document that states its fact.
    Finding this document requires labels."""
    vocab = world_tokenizer().vocab

    def pair(world: int, statement: Statement, rng: Random) -> tuple[Example, Example]:
        block = corpus(world).blocks[choice(rng, sorted(statement.tell))]
        return (query_input(statement.tokens, statement.salient, vocab),
                pair_input(ids(block.title.split()), ids(block.text.split()), vocab))

    def batch(step: int) -> MatchingBatch:
        rng = Random(f"{seed}:{step}")
        world = choice(rng, TRAINING)
        some = shuffled(rng, corpus(world).statements)[:BATCH * TOP_K]
        return MatchingBatch.of([pair(world, statement, rng) for statement in some], pad=vocab.need("pad"))
    return batch


def with_labels(folder: str, lr: float, seed: int) -> dict[str, float]:
    """Train a supervised retriever from the same checkpoint, with the same number of updates and of documents per
    update; return its outcomes with REALM's reader."""
    torch.manual_seed(seed)
    embedder = initialized(FULL).embedder
    fit_model(embedder, matched(seed), lr, precision="float32", show=False)
    return outcomes(FULL, REALM.from_pretrained(embedder, stored_model(folder, FULL, lr, seed).reader))


def best_temperature(model: REALM) -> float:
    """The temperature of BM25's scores with which a model's reader has the highest accuracy on the development
    world."""
    right = {one: shown(model, by_bm25(TOP_K, one), [DEVELOPMENT])["right"] for one in TEMPERATURES}
    return max(right, key=right.__getitem__)


def readers(folder: str, lr: float, seed: int) -> dict[str, Any]:
    """Results of REALM's reader given the documents of each baseline, as baseline → outcome; and BM25's
    ``temperature``."""
    model = stored_model(folder, FULL, lr, seed)
    best = best_temperature(model)
    return {"temperature": best, "BM25's best": shown(model, by_bm25(1), TEST_WORLDS),
            "BM25's four": shown(model, by_bm25(TOP_K, best), TEST_WORLDS),
            "gold document": shown(model, gold_document, TEST_WORLDS),
            "random document": shown(model, random_document, TEST_WORLDS),
            "null document only": shown(model, null_document, TEST_WORLDS)}


def warmed_reader() -> dict[str, dict[str, float]]:
    """Results of the warm-started reader with BM25's documents."""
    model = initialized(FULL)
    return {"BM25's best": shown(model, by_bm25(1), TEST_WORLDS),
            "gold document": shown(model, gold_document, TEST_WORLDS)}


def measure(parts: Parts, lr: float) -> dict[str, Any]:
    """``reader``: baseline whose documents REALM's reader is given → the spread of `shown` (and BM25's
    ``temperature``); ``labels``: the outcomes of a supervised retriever; ``warmed``: the results of the warm-started
    reader before further training."""
    folder = str(parts.folder)
    by_seed = parts(readers, [(folder, lr, seed) for seed in SEEDS])
    training_rows = parts(with_labels, [(folder, lr, seed) for seed in SEEDS])
    return {"reader": seed_statistics({seed: by_seed[folder, lr, seed] for seed in SEEDS}),
            "labels": seed_statistics({seed: training_rows[folder, lr, seed] for seed in SEEDS}),
            "warmed": parts(warmed_reader, [()])[()]}
