"""Open-domain question answering (开放域问答): the benefit of REALM's pretraining, and its source, the retriever or the
reader.

Guu et al. (2020, table 2, Natural Questions, development) report 38.2 % exact match after fine-tuning; 37.4 % with the
reader reset to its initialization, 35.3 % with the retriever reset, and 31.3 % with both reset, which is ORQA (Lee et
al. 2019). Before fine-tuning the answer occurs in one of five blocks for 38.5 % of the questions; for 26.1 % if random
spans were masked in pretraining, for 24.2 % if random tokens were masked, for 15.1 % with an index thirty times as old,
and for 13.9 % at initialization.

Our questions are the one-hop questions of the worlds, which no variant has seen in pretraining. Models are fine-tuned
on the training worlds and evaluated on the test worlds. The document embeddings are not trained. The rule was fixed
before the runs: pretraining *is worth something* if every seed from REALM has a higher accuracy than every seed from
the warm start, by more than `verdicts.MARGIN`; the same rule applies with each half reset. Each initialization has the
learning rate that is best for it on the development world. (A first run had one rate for all four, the best by the sum
of their scores: it was REALM's best rate, and twice what the retriever of the warm start tolerates.)
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache, partial
from random import Random
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch16.arms import ARMS, BATCH, EVERY, FULL, SEEDS, fit_model, initialized, stored_model
from plmlab.chapters.ch16.corpora import contains_answer, corpus
from plmlab.chapters.ch16.training import with_corpus
from plmlab.chapters.ch16.warm_start import ranking
from plmlab.draws import randint, shuffled
from plmlab.models.realm import REALM
from plmlab.models.realm_open_qa import REALMForOpenQA
from plmlab.models.retrieve_and_read import TOP_K
from plmlab.models.text_retriever import TextCorpus
from plmlab.objectives.open_domain_qa import QuestionBatch
from plmlab.objectives.retrieval_batches import Ids, Query
from plmlab.recipes import Parts, rates_tried, seed_statistics, tune_learning_rate
from plmlab.world.datasets.fact_documents import DEVELOPMENT, TEST_WORLDS, TRAINING
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.questions.bank import Question

BEGINNINGS = {FULL: (True, True), "reader reset": (True, False), "retriever reset": (False, True),
              "both reset": (False, False)}
"""Whether retriever and reader come from REALM's pretraining; otherwise they are those of the warm start."""
UPDATES = 200
RATES = (3e-4, 6e-4, 1.2e-3, 2.4e-3)


@cache
def questions(world: int) -> tuple[Question, ...]:
    """The one-hop questions of a world."""
    return tuple(corpus(world).world.questions("one-hop", "train"))


def spelled(words: tuple[str, ...]) -> Ids:
    """Convert words to ids."""
    return tuple(ids(words))


def zero_shot(model: REALM) -> float:
    """Fraction of the test questions whose answer occurs in one of the top documents, without fine-tuning."""
    hits = []
    for world in TEST_WORLDS:
        found = with_corpus(model, world).retrieve([Query(spelled(one.words), ()) for one in questions(world)]).lists()
        hits += [contains_answer(world, numbers, one.answer)
                 for numbers, one in zip(found, questions(world), strict=True)]
    return fmean(hits)


def zero_shots(folder: str, seed: int, *lrs: float) -> dict[str, float]:
    """The `zero_shot` result of each variant; the learning rates are given in the order of `ARMS`."""
    return {name: zero_shot(stored_model(folder, name, lr, seed)) for name, lr in zip(ARMS, lrs, strict=True)}


def baselines() -> dict[str, float]:
    """``warm start``: `zero_shot` before any pretraining; ``BM25``: the same for BM25's top documents; ``most common
    answer``: the accuracy of the most frequent answer in the training worlds to each kind of question."""
    common: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for world in TRAINING:
        for one in questions(world):
            common[one.shape][one.answer] += 1
    hits, guessed = [], []
    for world in TEST_WORLDS:
        for one in questions(world):
            hits.append(contains_answer(world, ranking(world).by_words(one.words, TOP_K).lists()[0], one.answer))
            guessed.append(common[one.shape].most_common(1)[0][0] == one.answer)
    return {"warm start": zero_shot(initialized(FULL)), "BM25": fmean(hits), "most common answer": fmean(guessed)}


class QuestionBatches:
    """Function from a step to questions of one training world, with the documents that the current question encoder
    retrieves. The documents of a world are embedded once; the world changes every `EVERY` steps."""

    def __init__(self, model: REALMForOpenQA, pretrained: REALM, seed: int) -> None:
        self.model, self.pretrained, self.seed = model, pretrained, seed
        self.worlds = shuffled(Random(seed), TRAINING)
        self._corpora: dict[int, TextCorpus] = {}

    def __call__(self, step: int) -> QuestionBatch:
        """The batch of a step."""
        world, rng = self.worlds[step // EVERY % len(self.worlds)], Random(f"{self.seed}:{step}")
        if world not in self._corpora:
            self._corpora[world] = with_corpus(self.pretrained, world).corpus
        some = questions(world)
        return retrieve_batch(self.model, self._corpora[world], [some[randint(rng, len(some))] for _ in range(BATCH)])


def retrieve_batch(model: REALMForOpenQA, documents: TextCorpus, questions: list[Question]) -> QuestionBatch:
    """Questions with the documents retrieved for them, and the answer spans in these documents."""
    return model.retrieve(documents, [spelled(one.words) for one in questions],
                          [[spelled(one.answer)] for one in questions])


def test_set(model: REALMForOpenQA, pretrained: REALM, worlds: tuple[int, ...]) -> dict[str, float]:
    """Fractions of the questions whose answer is in one of the top four documents (``among four``), and that are
    answered with an exact match (``right``)."""
    found, right = [], []
    for world in worlds:
        documents, asked = with_corpus(pretrained, world).corpus, questions(world)
        for first in range(0, len(asked), BATCH):
            some = [*asked[first:first + BATCH]]
            batch = retrieve_batch(model, documents, some)
            found += model.answers(batch).any((1, 2)).tolist()
            right += [best[0].tokens == spelled(one.answer) for best, one in zip(model.best(batch), some, strict=True)]
    return {"among four": fmean(found), "right": fmean(right)}


def beginning(folder: str, name: str, pretraining: float, seed: int) -> REALM:
    """One of the `BEGINNINGS`, given the learning rate and the seed of its pretraining."""
    before, after = initialized(FULL), stored_model(folder, FULL, pretraining, seed)
    retriever, reader = BEGINNINGS[name]
    return REALM.from_pretrained((after if retriever else before).embedder, (after if reader else before).reader).eval()


def fine_tuned(folder: str, name: str, pretraining: float, lr: float, seed: int) -> dict[str, dict[str, float]]:
    """Fine-tune on the questions of the training worlds; return the results of `test_set` on the ``development`` world
    and on the test worlds (``test_set``)."""
    torch.manual_seed(seed)
    pretrained = beginning(folder, name, pretraining, seed)
    model = REALMForOpenQA.from_pretrained(pretrained)
    fit_model(model, QuestionBatches(model, pretrained, seed), lr, UPDATES, precision="float32", show=False)
    model.eval()
    return {"development": test_set(model, pretrained, (DEVELOPMENT,)),
            "test_set": test_set(model, pretrained, TEST_WORLDS)}


def measure(parts: Parts, rates: dict[str, float]) -> dict[str, Any]:
    """Given the learning rate of each variant's pretraining: ``zero shot``, variant → the spread of `zero_shot`; the
    ``baselines``; the best ``rate`` of each initialization and the ``rates`` tried, with the accuracy on the
    development world; and ``fine-tuned``, initialization → the spread of its `test_set`."""
    folder, lrs = str(parts.folder), tuple(rates[name] for name in ARMS)
    before = parts(zero_shots, [(folder, seed, *lrs) for seed in SEEDS])
    parts(fine_tuned, [(folder, name, rates[FULL], lr, SEEDS[0]) for name in BEGINNINGS for lr in RATES])

    def right(name: str, some: Sequence[float]) -> dict[float, float]:
        tried = parts(fine_tuned, [(folder, name, rates[FULL], lr, SEEDS[0]) for lr in some])
        return {lr: tried[folder, name, rates[FULL], lr, SEEDS[0]]["development"]["right"] for lr in some}

    best = {name: tune_learning_rate(partial(right, name), RATES) for name in BEGINNINGS}
    tasks = {(name, seed): (folder, name, rates[FULL], lr, seed) for name, (lr, _) in best.items() for seed in SEEDS}
    runs = parts(fine_tuned, [*tasks.values()])
    return {"zero shot": seed_statistics({seed: before[folder, seed, *lrs] for seed in SEEDS}),
            "baselines": parts(baselines, [()])[()], "rate": {name: lr for name, (lr, _) in best.items()},
            "rates": {name: rates_tried(told) for name, (_, told) in best.items()},
            "fine-tuned": {name: seed_statistics({seed: runs[tasks[name, seed]]["test_set"] for seed in SEEDS})
                           for name in BEGINNINGS}}
