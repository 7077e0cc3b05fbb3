"""The curse of the beam: is the empty translation a model's likeliest, and does a narrow beam hide it?

Stahlberg and Byrne (2019, table 1, WMT15 English–German, a Transformer with label smoothing): exact search finds the
empty translation for 51.8 % of the sentences, more often for long ones; greedy search and a beam of 10 never do. BLEU
falls from 29.3 (greedy) and 30.3 (beam 10) to 2.1.

Where it can show here. The empty text wins only where p(empty | x) > p(best | x). Our Chinese has one English, so a
trained reader is sure of it and the empty text cannot win. So words are lost (`telegrams`): then a text of several
sentences has many translations, and the likeliest has little probability. And p(empty | x) needs a source: a hundredth
of the training targets that are empty, as in a text that was gathered carelessly; or the labels' smoothing, which gives
[END] a share of every position, the first too, and takes a tenth from every word of a text (Shi, Xiao and Knight 2020).

Written down after pilots (seeds 0 and 1, which are not recorded) and before the recorded run, for texts of four
sentences and 1500 updates. 600 was the first choice, and moved since a pilot of "clean" then still preferred the empty
text for 3 of 30 sources; after 1500 it did for none.

- **Holds**, of an arm: the exact best is empty for at least a tenth of the sources (mean of the seeds) and oftener than
  for one sentence; greedy never writes it; a beam of 5 writes it for at most a third of those; and without noise and
  smoothing ("clean") the exact best is empty for at most a hundredth.
- **Holds in part**: as above, but a beam of 5 already writes it for more than a third of those. Then the model has the
  curse, but no lucky search error hides it: this search is too easy.
- **Fails**: less than a tenth, or "clean" shows more than a hundredth, or one sentence as much as four.
- "No words lost" is to show nothing (at most a hundredth) after 600 updates, with either source of p(empty). What it
  shows after 200 is a curse of too little training.
- **The model's fault?** The perfect learner knows the world and the losses, and has learned what the arm's targets ask
  for. Where it prefers the empty text for at least half as many sources as the model, the curse is not the model's, but
  comes of what it was asked to learn, and of asking for the likeliest text (Eikema and Aziz 2020). (At first it knew
  nothing of smoothing, so that its share there was 0 by construction. Mended after the run, as a reader found it.)
- **Training lowers it**: from 600 to 1500 updates the share of empty exact bests falls by more than a half. (4500
  updates with smoothing were added after the run.)

All arms take the rate of "clean" after 600 updates: what is compared is what they are asked to learn.
"""

from collections.abc import Sequence
from math import exp, log
from statistics import fmean, median
from typing import Any

import torch

from plmlab.chapters.ch03 import noisy_translation as translation
from plmlab.chapters.ch03.noisy_translation import (
    ARMS,
    BATCH,
    SEEDS,
    SOURCES,
    beamed,
    judged,
    likeliest,
    pairs,
    test_set,
    tokenizer,
    written,
)
from plmlab.chapters.ch03.telegrams import LONGEST, Telegram
from plmlab.models.transformer import Transformer
from plmlab.recipes import Parts, rates_tried, seed_statistics
from plmlab.recipes.study import Run, Study
from plmlab.train import History
from studies.ch03.ideal_reader import ideal, learned_perfectly

UPDATES = {"clean": (600, 1500), "noise": (600, 1500), "smoothing": (600, 1500, 4500),
           "no words lost, noise": (200, 600), "no words lost, smoothing": (600,)}
"""Arm → the numbers of updates after which it is asked."""
PILOTED = ("clean", 600)
"""The arm, and its updates, whose rate all take."""
BEAMS = (1, 2, 5, 20)
ALPHAS = (0.6, 1.0)
PENALISED = 20
"""The beam that the length penalty is tried with."""


@torch.no_grad()
def empty_chances(model: Transformer, telegrams: Sequence[Telegram]) -> list[float]:
    """p(empty | source), a telegram each: the chance that [END] comes first."""
    first = model(pairs(telegrams, empty=True))[:, 0].softmax(-1)
    return first[:, tokenizer().vocab.need("end")].tolist()


def asked(model: Transformer, lost: float, telegrams: Sequence[Telegram], beams: Sequence[int] = (1,),
          alphas: Sequence[float] = ()) -> dict[str, Any]:
    """What a model makes of some telegrams.

    ``exact``, ``exact, not empty``, ``beam …`` and ``beam …, alpha …``: the shares ``empty`` and ``right``; of beams
    also ``search error``, the share of sources for which the exact best is likelier. ``not found``: the share of exact
    searches that were given up, and of those for what is not empty. ``p(empty)``: the mean chance of the empty
    translation; ``p(best)``: the median chance of the likeliest other, 0 where that was not found.
    """
    model.eval()
    best = [likeliest(model, telegram) for telegram in telegrams]
    other = [text if text and written(text) else likeliest(model, telegram, empty=False)
             for text, telegram in zip(best, telegrams, strict=True)]
    told: dict[str, Any] = {
        "exact": judged(lost, telegrams, best), "exact, not empty": judged(lost, telegrams, other),
        "not found": fmean(text is None for text in best), "other not found": fmean(text is None for text in other),
        "p(empty)": fmean(empty_chances(model, telegrams)),
        "p(best)": median(exp(text.logprob) if text else 0.0 for text in other)}
    for beam in beams:
        texts = beamed(model, telegrams, beam)
        missed = (text is not None and narrow.logprob < text.logprob - 1e-4
                  for text, narrow in zip(best, texts, strict=True))
        told[f"beam {beam}"] = judged(lost, telegrams, texts) | {"search error": fmean(missed)}
    return told | {f"beam {PENALISED}, alpha {alpha:g}": judged(lost, telegrams, beamed(model, telegrams, PENALISED,
                                                                                        alpha)) for alpha in alphas}


def build(name: str, seed: int) -> Transformer:
    """An arm's model, with random weights of this seed."""
    return translation.build(ARMS[name], seed)


def train(model: Transformer, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train it as its arm says; the history of the run."""
    return translation.train(model, ARMS[name], updates, lr, seed, **options)


@torch.no_grad()
def development(run: Run) -> float:
    """Minus the loss, in nats a token, on 300 other telegrams."""
    [name] = run.arm
    to_choose = [telegram for count in range(1, LONGEST + 1)
                 for telegram in test_set(ARMS[name].lost, count, "choose", 75)]
    return -float(run.model.loss(pairs(to_choose)))


def test(run: Run) -> dict[str, Any]:
    """Number of sentences → `asked`."""
    [name] = run.arm
    lost = ARMS[name].lost
    return {str(count): asked(run.model, lost, test_set(lost, count, run.seed, SOURCES), BEAMS, ALPHAS)
            for count in range(1, LONGEST + 1)}


STUDY = Study(name="noisy translation", arms={(name,): (1e-3, 3e-3, 1e-2) for name in ARMS}, build=build, train=train,
              development=development, test=test, updates={(name,): UPDATES[name] for name in ARMS}, seeds=SEEDS,
              nothing=-log(len(tokenizer())), unequal="each is compared with itself, as training goes on, and with the "
                                                     "others after the same number")


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``sources`` of each number of sentences a seed, ``batch``, ``lr`` and the ``rates`` tried; and ``arms``: name →
    its ``lost``, ``noise``, ``smoothing``; ``ideal``: number of sentences → `learned_perfectly`;
    ``updates``: number of updates → number of sentences → `asked`; every figure with its spread."""
    rate = study.best(parts, [PILOTED])[PILOTED]
    found = study.at(parts, {(*arm, updates): rate for arm in study.arms for updates in study.budgets(arm)})
    lengths = range(1, LONGEST + 1)
    readers = parts(ideal, [(ARMS[name].lost, count, seed)
                            for name, in study.arms for count in lengths for seed in study.seeds])
    told: dict[str, Any] = {}
    for name, in study.arms:
        arm = ARMS[name]
        told[name] = {
            "lost": arm.lost, "noise": arm.noise, "smoothing": arm.smoothing,
            "ideal": {str(count): seed_statistics({seed: learned_perfectly(arm, readers[arm.lost, count, seed])
                                           for seed in study.seeds}) for count in lengths},
            "updates": {str(updates): seed_statistics(found[name, updates].runs) for updates in study.budgets((name,))}}
    lr, scores = rate
    return {"sources": SOURCES, "batch": BATCH, "lr": lr, "rates": rates_tried(scores), "arms": told}
