"""How much text each rival needs: n-grams and the LSTM after 1,000 to 64,000 sentences of the full world, beside the
best possible reader.

The rule, written before the run. At an amount of text, the LSTM *wins* if it pays less than the best n-gram (smoothing
and order chosen on the development sentences) with each of three seeds, and *loses* if it pays more with each. The
claim "an LSTM beats the best n-gram on the same text" holds if it wins at every amount, fails if it wins at none, and
holds in part otherwise.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import islice
from statistics import mean
from typing import Any

from plmlab import world
from plmlab.chapters.ch03.rivals import (
    WAYS,
    Text,
    beside,
    best_order,
    counted_losses,
    learned,
    network_losses,
    smoothed,
)
from plmlab.models.ngram import NGram
from plmlab.models.recurrent import LSTMLanguageModel
from plmlab.recipes import Parts, best_rates, spread
from plmlab.world.datasets.best_reader import BestReader
from plmlab.world.datasets.gaps import KINDS, exam, gaps, kinds, means
from plmlab.world.datasets.tokenizer import spelling
from plmlab.world.grammar.sentence import Sentence

SEEDS, PILOTS = (0, 1, 2), (8, 9)
UPDATES = {1_000: 800, 8_000: 2500, 64_000: 5000}
"""Sentences read → updates, of pilots too: in short runs too high a rate looks best."""
DROPOUTS = {1_000: (0.0, 0.3), 8_000: (0.0, 0.3), 64_000: (0.0,)}
"""Where each sentence is read three times only, dropout is not tried."""
RATES = (1e-2, 3e-2)
WIDTH = 128
MOST = max(UPDATES)
FAR = 6
"""Verbs as far from their subject, or farther, are taken together."""


@cache
def asked() -> list[Sentence]:
    """The different sentences of the exam that none of the texts holds."""
    held = {tuple(words) for words in islice(world.full().text("train", seed=1), MOST)}
    return list({one.words: one for one in exam(world.full()) if one.words not in held}.values())


def spelled(sentences: Sequence[Sequence[str]]) -> list[list[int]]:
    """Their ids, one token a word."""
    return spelling().encode_all([" ".join(words) for words in sentences], plain=True)


@cache
def text(size: int) -> Text:
    """So many sentences of the full world to read; each amount begins with the smaller one."""
    return Text(spelled(list(islice(world.full().text("train", seed=1), size))),
                spelled(list(islice(world.full().text("test", seed=4), 500))),
                spelled([one.words for one in asked()]), spelling().vocab)


@cache
def best_reader() -> BestReader:
    """Who knows the grammar."""
    return BestReader(world.full(), "test", spelling(), len(spelling()))


def distances(sentences: Sequence[Sentence]) -> list[int]:
    """For each verb that agrees with a subject before it, in order, how many words back that stands."""
    found = []
    for sentence in sentences:
        apart = {link.verb: link.verb - link.subject for link in sentence.agreement if link.subject < link.verb}
        found += [apart[place] for place, kind in enumerate(kinds(sentence)) if kind == "agreement"]
    return found


def short_of_the_best(model: NGram | LSTMLanguageModel) -> dict[str, Any]:
    """``gaps``: kind of word → nats above the best reader; ``agreement``: distance of the subject → the same, of its
    verb."""
    found = gaps(model, best_reader(), asked())  # type: ignore[arg-type]
    by_distance = defaultdict(list)
    for distance, gap in zip(distances(asked()), found["agreement"], strict=True):
        by_distance[str(min(distance, FAR))].append(gap)
    return {"gaps": means(found), "agreement": {d: mean(by_distance[d]) for d in sorted(by_distance)}}


def counting(size: int, way: str) -> dict[str, Any]:
    """The best order of one way to smooth, what each order pays, and how far it falls short on the exam."""
    order, tried = best_order(text(size), smoothed(text(size), way))
    model = smoothed(text(size), way)(order)
    return {"order": order, "tried": {str(n): loss for n, loss in tried.items()},
            "loss": counted_losses(model, text(size).exam).mean().item(), **short_of_the_best(model)}


def rate_score(size: int, dropout: float, lr: float, seed: int) -> float:
    """What a learning rate is judged by, the higher the better: minus the loss on the development sentences."""
    model, _ = learned(text(size), WIDTH, dropout, UPDATES[size], lr, seed)
    return -network_losses(model, text(size), text(size).development).mean().item()


def reading(size: int, dropout: float, lr: float, seed: int, way: str, order: int) -> dict[str, Any]:
    """One LSTM: what it pays, how far it falls short, and what a mixture with the best n-gram pays."""
    model, history = learned(text(size), WIDTH, dropout, UPDATES[size], lr, seed)
    own, both, share = beside(model, smoothed(text(size), way)(order), text(size))
    return {"loss": own.mean().item(), "share": share, "mixed": both.mean().item(), "seconds": history.seconds,
            **short_of_the_best(model)}


def best_loss() -> float:
    """What the best reader pays on the exam, in nats a token, exactly."""
    return sum(-world.full().logprob(one.words) for one in asked()) / sum(len(one.words) + 1 for one in asked())


def measure(parts: Parts) -> dict[str, Any]:
    """``sentences`` and ``best`` of the exam; for each amount, each way of counting and the ``LSTM`` with its rate,
    dropout and spread."""
    found = parts(counting, [(size, way) for size in UPDATES for way in WAYS])
    grids = {(size, dropout): RATES for size in UPDATES for dropout in DROPOUTS[size]}
    best = best_rates(parts, rate_score, PILOTS, grids)
    told: dict[str, Any] = {"sentences": len(asked()), "best": best_loss(), "width": WIDTH, "amounts": {}}
    chosen = {}
    for size in UPDATES:
        dropout = max(DROPOUTS[size], key=lambda one: max(best[size, one][1].values()))
        way = min(WAYS, key=lambda one: min(found[size, one]["tried"].values()))
        chosen[size] = (dropout, best[size, dropout][0], way, found[size, way]["order"])
    runs = parts(reading, [(size, dropout, lr, seed, way, order)
                           for size, (dropout, lr, way, order) in chosen.items() for seed in SEEDS])
    for size, (dropout, lr, way, order) in chosen.items():
        done = {seed: runs[size, dropout, lr, seed, way, order] for seed in SEEDS}
        far = next(iter(done.values()))["agreement"]
        told["amounts"][str(size)] = {
            "best n-gram": way, **{one: found[size, one] for one in WAYS},
            "LSTM": {
                "dropout": dropout, "lr": lr, "updates": UPDATES[size],
                "tried": {f"{one:g}": list(best[size, one][1].items()) for one in DROPOUTS[size]},
                **{name: spread({seed: run[name] for seed, run in done.items()})
                   for name in ("loss", "share", "mixed", "seconds")},
                "gaps": {of: spread({seed: run["gaps"][of] for seed, run in done.items()}) for of in (*KINDS, "all")},
                "agreement": {d: spread({seed: run["agreement"][d] for seed, run in done.items()}) for d in far},
            }}
    return told
