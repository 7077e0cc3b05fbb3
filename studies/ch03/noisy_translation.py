"""The beam search curse: is the empty translation the most probable one under the model, and does a narrow beam hide
this?

Stahlberg and Byrne (2019, table 1, WMT15 English–German, a Transformer with label smoothing) report that exact search
finds the empty translation for 51.8 % of the sentences, more often for long ones, whereas greedy search and a beam of
10 never do. BLEU falls from 29.3 (greedy) and 30.3 (beam 10) to 2.1.

The effect occurs only if p(empty | x) > p(best | x). Without word loss our Chinese has exactly one English translation,
so a trained model is confident, and the empty text cannot win. Therefore words are dropped from the sources
(`telegrams`): a text of several sentences then has many translations, and the most probable one has low probability.
p(empty | x) has one of two causes: 1 % of the training targets are empty, as in carelessly collected data; or label
smoothing, which gives [END] some probability at every position, including the first, and takes 10 % from every word of
a text (Shi, Xiao and Knight 2020).

The rule was written after pilots (seeds 0 and 1, not recorded) and before the recorded run, for texts of four sentences
and 1500 updates. The original choice of 600 updates was changed because a pilot of "clean" still preferred the empty
text for 3 of 30 sources after 600 updates, and for none after 1500.

- **Holds** for a configuration: exact search returns the empty text for at least 10 % of the sources (mean over the
  seeds) and more often than for one sentence; greedy search never generates it; a beam of 5 generates it for at most a
  third of those sources; and without noise and smoothing ("clean") exact search returns it for at most 1 %.
- **Holds in part**: as above, but a beam of 5 already generates it for more than a third of those sources. The model
  then has the curse, but no lucky search error hides it, because the search problem is too easy.
- **Fails**: less than 10 %, or more than 1 % for "clean", or the same fraction for one sentence as for four.
- "No words lost" should show no effect (at most 1 %) after 600 updates, with either cause of p(empty). Any effect after
  200 updates is due to too little training.
- **Model or objective?** The optimum of the training objective knows the world and the word loss, and fits the
  configuration's targets exactly. If it prefers the empty text for at least half as many sources as the model, the
  curse is due to the training objective and to searching for the most probable text (Eikema and Aziz 2020), not to the
  model. (At first this optimum ignored smoothing, so that it never preferred the empty text with smoothing, by
  construction. This was corrected after the run, when a reader noticed it.)
- **Training reduces the effect**: from 600 to 1500 updates, the fraction of sources for which exact search returns the
  empty text falls by more than half. (4500 updates with smoothing were added after the run.)

All configurations use the learning rate of "clean" after 600 updates, so that they differ only in the objective.
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
    evaluate_translations,
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
"""Configuration → numbers of updates after which it is evaluated."""
PILOTED = ("clean", 600)
"""The configuration and number of updates for which the common learning rate is tuned."""
BEAMS = (1, 2, 5, 20)
ALPHAS = (0.6, 1.0)
PENALISED = 20
"""Beam width for the length penalties."""


@torch.no_grad()
def empty_chances(model: Transformer, telegrams: Sequence[Telegram]) -> list[float]:
    """p(empty | source) for each telegram, which is the probability that the first token is [END]."""
    first = model(pairs(telegrams, empty=True))[:, 0].softmax(-1)
    return first[:, tokenizer().vocab.need("end")].tolist()


def asked(model: Transformer, lost: float, telegrams: Sequence[Telegram], beams: Sequence[int] = (1,),
          alphas: Sequence[float] = ()) -> dict[str, Any]:
    """Evaluate a model's translations of telegrams.

    ``exact``, ``exact, not empty``, ``beam …`` and ``beam …, alpha …``: the fractions ``empty`` and correct
    (``right``); for beams also ``search error``, the fraction of sources for which the result of exact search is more
    probable. ``not found`` and ``other not found``: the fractions of exact searches that were given up, for the best
    and for the best non-empty translation. ``p(empty)``: the mean probability of the empty translation; ``p(best)``:
    the median probability of the best non-empty translation, which is 0 if it was not found.
    """
    model.eval()
    best = [likeliest(model, telegram) for telegram in telegrams]
    other = [text if text and written(text) else likeliest(model, telegram, empty=False)
             for text, telegram in zip(best, telegrams, strict=True)]
    figures: dict[str, Any] = {
        "exact": evaluate_translations(lost, telegrams, best),
        "exact, not empty": evaluate_translations(lost, telegrams, other),
        "not found": fmean(text is None for text in best), "other not found": fmean(text is None for text in other),
        "p(empty)": fmean(empty_chances(model, telegrams)),
        "p(best)": median(exp(text.logprob) if text else 0.0 for text in other)}
    for beam in beams:
        texts = beamed(model, telegrams, beam)
        missed = (text is not None and narrow.logprob < text.logprob - 1e-4
                  for text, narrow in zip(best, texts, strict=True))
        figures[f"beam {beam}"] = evaluate_translations(lost, telegrams, texts) | {"search error": fmean(missed)}
    return figures | {f"beam {PENALISED}, alpha {alpha:g}": evaluate_translations(
        lost, telegrams, beamed(model, telegrams, PENALISED, alpha)) for alpha in alphas}


def build(name: str, seed: int) -> Transformer:
    """Return the untrained model of a configuration, initialized with ``seed``."""
    return translation.build(ARMS[name], seed)


def train(model: Transformer, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train the model in its configuration and return the run's history."""
    return translation.train(model, ARMS[name], updates, lr, seed, **options)


@torch.no_grad()
def development(run: Run) -> float:
    """Negative loss on 300 other telegrams, in nats per token."""
    [name] = run.arm
    to_choose = [telegram for count in range(1, LONGEST + 1)
                 for telegram in test_set(ARMS[name].lost, count, "choose", 75)]
    return -float(run.model.loss(pairs(to_choose)))


def test(run: Run) -> dict[str, Any]:
    """Map each number of sentences to the output of `asked`."""
    [name] = run.arm
    lost = ARMS[name].lost
    return {str(count): asked(run.model, lost, test_set(lost, count, run.seed, SOURCES), BEAMS, ALPHAS)
            for count in range(1, LONGEST + 1)}


STUDY = Study(name="noisy translation", arms={(name,): (1e-3, 3e-3, 1e-2) for name in ARMS}, build=build, train=train,
              development=development, test=test, updates={(name,): UPDATES[name] for name in ARMS}, seeds=SEEDS,
              nothing=-log(len(tokenizer())), unequal="each is compared with itself, as training goes on, and with the "
              "others after the same number")


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``sources`` per number of sentences and seed, ``batch``, ``lr`` and the ``rates`` tried; and ``arms``: name → its
    ``lost``, ``noise``, ``smoothing``; ``ideal``: number of sentences → `learned_perfectly`;
    ``updates``: number of updates → number of sentences → `asked`; every figure with its spread."""
    rate = study.best(parts, [PILOTED])[PILOTED]
    outcomes = study.at(parts, {(*arm, updates): rate for arm in study.arms for updates in study.budgets(arm)})
    lengths = range(1, LONGEST + 1)
    readers = parts(ideal, [(ARMS[name].lost, count, seed)
                            for name, in study.arms for count in lengths for seed in study.seeds])
    results: dict[str, Any] = {}
    for name, in study.arms:
        arm = ARMS[name]
        results[name] = {
            "lost": arm.lost, "noise": arm.noise, "smoothing": arm.smoothing,
            "ideal": {str(count): seed_statistics({seed: learned_perfectly(arm, readers[arm.lost, count, seed])
                                                   for seed in study.seeds}) for count in lengths},
            "updates": {str(updates): seed_statistics(outcomes[name, updates].runs)
                        for updates in study.budgets((name,))}}
    lr, scores = rate
    return {"sources": SOURCES, "batch": BATCH, "lr": lr, "rates": rates_tried(scores), "arms": results}
