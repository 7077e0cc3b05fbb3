"""KnowBERT on the Small World: the accuracy of its linkers, and the facts that it recalls.

All models start from `bert-world`, and are then trained on the same masked statements in the same order: sentences of
the training text that state a fact, in each of which one name or date is masked.

- *KnowBERT*: first each linker is trained alone; then all parameters are trained jointly, on masked tokens and links.
  The vectors come from the graph of the entities and from descriptions of the senses, and are frozen.
- *random vectors*: the same with random vectors of the entities, with the same standard deviation. *BERT*: no KARs.

*Linkers*: sentences that do not occur in the training text. Baselines: a random candidate; the candidate with the
highest prior; the same, but NULL for a name inside a longer name; the most frequent gold entity of this name.

*Recalled facts*: exact match on a masked object, every token the most probable one. A mention with a masked token is
left out, because its candidates would reveal the answer. Facts are *stated* in other sentences of this training, or
only in the knowledge base: *new facts* about known entities, and facts about *new entities*. Also, with the same
weights: KnowBERT *without mentions*, and with vectors of *other entities* of the same kind. Baselines: BERT before this
training, the most frequent object, and a linear decoder from the vectors, given the relation, fitted on stated facts.

The rules were fixed before the seeds were measured. KnowBERT *recalls facts of the knowledge base* if, for new facts
and for new entities, every seed is above every seed of BERT by more than `MARGIN`; it does so *because of the vectors*
if the same holds against random vectors. Learning rates are chosen on development sentences, whose facts are not test
facts: by the mean accuracy on names and on words with several senses, and by the mean exact match over the groups.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, lru_cache
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from plmlab.candidates import SPECIAL_ENTITIES, LinkedExample
from plmlab.chapters.ch18.knowbert import (
    FACTS,
    first_candidates,
    knowbert,
    knowledge,
    link_accuracy,
    most_frequent,
    predicted_links,
    recalled,
    train_linkers,
)
from plmlab.checkpoints import load
from plmlab.models.bert import BERTPretraining
from plmlab.models.knowbert import KnowBERTPretraining
from plmlab.recipes import Parts, none_if_diverged, rates_tried, tune_learning_rates
from plmlab.recipes.study import Run, Study, combined_verdict, verdict
from plmlab.train import fit
from plmlab.world.datasets.knowledge_bases import entity_graph
from plmlab.world.questions.cloze import Cloze

KNOWBERT, RANDOM, BERT = "KnowBERT", "random vectors", "BERT"
LINKER_UPDATES, UPDATES, PILOT_UPDATES = 100, 1500, 500
RATES, LINKER_RATES = (3e-4, 1e-3, 3e-3), (3e-3, 1e-2, 3e-2)
SEEDS, PILOTS = (0, 1), (9,)
LINKED_SENTENCES = 1200
MARGIN = 0.02


def bert_world() -> BERTPretraining:
    """The bundled BERT."""
    return load("bert-world", expect="bert-pretraining")[0]


@cache
def sentences() -> tuple[list[LinkedExample], list[LinkedExample]]:
    """Development and test sentences with links."""
    found = knowledge().linked("test", 1, LINKED_SENTENCES)
    return found[::4], [one for i, one in enumerate(found) if i % 4]


@lru_cache(2)
def with_linkers(vectors: str, lr: float, seed: int) -> KnowBERTPretraining:
    """A KnowBERT whose linkers have been trained alone."""
    data, bert = knowledge(), bert_world()  # before the seed, because loading draws random numbers
    torch.manual_seed(seed)
    model = knowbert(data, bert, vectors == RANDOM)
    train_linkers(model, data, LINKER_UPDATES, lr, seed, show=False)
    return model


def build(variant: str, linker_rate: float, seed: int) -> BERTPretraining:
    """A variant before the joint training."""
    return bert_world() if variant == BERT else deepcopy(with_linkers(variant, linker_rate, seed))


def linked(model: Any, examples: list[LinkedExample]) -> dict[str, float]:
    """The accuracy of a model's linkers; BERT has none."""
    if not isinstance(model, KnowBERTPretraining):
        return {}
    return link_accuracy(examples, predicted_links(model, examples, knowledge().tokenizer.vocab.need("pad")))


def train(model: BERTPretraining, variant: str, linker_rate: float, updates: int, lr: float, seed: int,
          **options: Any) -> dict[str, float]:
    """Train a variant jointly. Returns the test accuracy of its linkers before this training."""
    before = linked(model, sentences()[1])
    fit(model, knowledge().masked_statements(seed), steps=updates, lr=lr, warmup=updates // 10, compile=False,
        **options)
    return before


def recall(model: BERTPretraining, split: int, mentions: bool = True) -> dict[str, float]:
    """Exact match by group of facts on the development (0) or test (1) sentences."""
    return {group: recalled(model, knowledge(), knowledge().clozes(group)[split], mentions) for group in FACTS}


def development_score(run: Run) -> float:
    """Mean exact match over the groups on the development sentences."""
    return fmean(recall(run.model, 0).values())


@contextmanager
def other_entities(model: KnowBERTPretraining) -> Iterator[None]:
    """Give each entity the vector of another one of its kind, and undo it at the end."""
    vectors, kinds = model.encoder.kars[0].linker.vectors, defaultdict[str, list[int]](list)
    for i, key in enumerate(knowledge().bases[0].entities, SPECIAL_ENTITIES):
        kinds[key.split(":")[0]].append(i)
    kept = vectors.clone()
    for rows in kinds.values():
        vectors[rows] = kept[rows[1:] + rows[:1]]
    yield
    vectors.copy_(kept)


def test(run: Run) -> dict[str, Any]:
    """Recalled facts, and for a KnowBERT also with changed knowledge; the accuracy of the linkers."""
    found: dict[str, Any] = {"recalled": recall(run.model, 1)}
    if isinstance(run.model, KnowBERTPretraining):
        found |= {"without mentions": recall(run.model, 1, mentions=False),
                  "linkers alone": run.history, "linkers": linked(run.model, sentences()[1])}
        with other_entities(run.model):
            found["other entities"] = recall(run.model, 1)
    return found


def study(linker_rate: float) -> Study[BERTPretraining]:
    """The comparison, given the learning rate of the linkers."""
    arms = dict.fromkeys(((name, linker_rate) for name in (KNOWBERT, RANDOM, BERT)), RATES)
    return Study(name="knowbert", arms=arms, build=build, train=train, development=development_score,
                 test=test, updates=(UPDATES,), nothing=0.05, seeds=SEEDS, pilots=PILOTS, pilot_updates=PILOT_UPDATES)


@none_if_diverged
def linker_score(lr: float, seed: int) -> float:
    """Mean accuracy of the linkers, trained alone, on names and on words with several senses in development text."""
    found = linked(with_linkers(KNOWBERT, lr, seed), sentences()[0])
    return fmean((found["names"], found["senses"]))


def linker_baselines() -> dict[str, dict[str, float]]:
    """The accuracy of the baselines of the linkers."""
    given = sentences()[1]
    rules = {"random candidate": (), "highest prior": first_candidates(given),
             "longest name": first_candidates(given, longest=True),
             "most frequent": most_frequent(given, knowledge().linked("train", 2, LINKED_SENTENCES))}
    return {name: link_accuracy(given, found) for name, found in rules.items()}


def decoded(vectors: Tensor) -> tuple[dict[tuple[str, str], int], Tensor]:
    """(relation, object) → column, and the entry of each entity in each column, from a linear map of the entity vectors
    that is fitted by least squares on the entities with stated facts, and on these facts only."""
    row = {key: i for i, key in enumerate(knowledge().bases[0].entities)}
    edges = [edge for edge in dict.fromkeys(entity_graph(knowledge().world, "train")) if edge[0] in row]
    columns = {pair: i for i, pair in enumerate(dict.fromkeys((r, o) for _, r, o in edges))}
    matrix = torch.zeros(len(row), len(columns))
    for subject, relation, target in edges:
        matrix[row[subject], columns[relation, target]] = 1.0
    known = matrix.any(1)
    return columns, vectors @ torch.linalg.lstsq(vectors[known], matrix[known]).solution


def fact_baselines() -> dict[str, dict[str, float]]:
    """Exact match of the baselines on the test sentences."""
    ids = {key: i for i, key in enumerate(knowledge().bases[0].entities)}
    stated = Counter((r, o) for _, r, o in entity_graph(knowledge().world, "train"))

    def frequent(cloze: Cloze) -> str:
        return max((pair for pair in stated if pair[0] == cloze.fact.relation), key=stated.__getitem__)[1]

    def linear(random: bool) -> Callable[[Cloze], str]:
        columns, values = decoded(knowledge().vectors(random)[0][SPECIAL_ENTITIES:])

        def rule(cloze: Cloze) -> str:
            row, pairs = values[ids[cloze.fact.subject]], [pair for pair in columns if pair[0] == cloze.fact.relation]
            return max(pairs, key=lambda pair: float(row[columns[pair]]))[1]
        return rule

    tests = {group: knowledge().clozes(group)[1] for group in FACTS}
    rules = {"most frequent object": frequent, "linear decoder": linear(False),
             "linear decoder, random vectors": linear(True)}
    return {"BERT before training": recall(bert_world(), 1),
            **{name: {group: fmean(rule(one) == one.fact.object for one in some) for group, some in tests.items()}
               for name, rule in rules.items()}}


def measure(parts: Parts) -> dict[str, Any]:
    """``runs``: variant → ``lr``, ``rates`` and the numbers of `test` with spread; the ``verdicts``; the rate of the
    ``linkers``; the baselines of both tables; and the number of test sentences of each group."""
    lr, scores = tune_learning_rates(parts, linker_score, PILOTS, {(): LINKER_RATES})[()]
    runs = {name: one.as_record() for (name, *_), one in study(lr).measure(parts).items()}
    return {"runs": runs, "verdicts": verdicts(runs),
            "linkers": {"lr": lr, "rates": rates_tried(scores), "baselines": parts(linker_baselines, [()])[()]},
            "baselines": parts(fact_baselines, [()])[()],
            "updates": {"linkers": LINKER_UPDATES, "joint": UPDATES},
            "facts": {group: len(knowledge().clozes(group)[1]) for group in FACTS}}


def verdicts(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The verdict on each claim of the module's docstring."""
    return {claim: combined_verdict(verdict(runs[KNOWBERT]["recalled"][group], runs[other]["recalled"][group], MARGIN)
                                    for group in FACTS if group != "stated")
            for claim, other in (("recalls facts of the knowledge base", BERT), ("because of the vectors", RANDOM))}
