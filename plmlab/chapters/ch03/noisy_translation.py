"""The curse of the beam: is the empty translation a model's likeliest, and does a narrow beam hide it?

Stahlberg and Byrne (2019, table 1, WMT15 English–German, a Transformer with label smoothing): exact search finds the
empty translation for 51.8 % of the sentences, more often for long ones; greedy search and a beam of 10 never do. BLEU
falls from 29.3 (greedy) and 30.3 (beam 10) to 2.1.

Where it can show here. The empty text wins only where p(empty | x) > p(best | x). Our Chinese has one English, so a
trained reader is sure of it and the empty text cannot win. So words are lost (`telegrams`): then a text of several
sentences has many translations, and the likeliest has little probability. And p(empty | x) needs a source: a hundredth
of the training targets that are empty, as in a text that was gathered carelessly; or the labels' smoothing, which gives
[END] a share of every slot, the first too, and takes a tenth from every word of a text (Shi, Xiao and Knight 2020).

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
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from random import Random
from statistics import fmean, median
from typing import Any

import torch

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch03.telegrams import LONGEST, Telegram, Words, draw, ideal_reading, is_right, sentences
from plmlab.decode import Given, Hypothesis, SearchTooWide, beam_search, exact_search
from plmlab.example import PairBatch, PairExample
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import sequence_to_sequence
from plmlab.recipes import Parts, best_rate, none_if_diverged, piloted, rates_tried, spreads
from plmlab.text.tokenizers import Tokenizer
from plmlab.train import History, fit
from plmlab.world.datasets.tokenizer import world_tokenizer

SEEDS, PILOTS = (2, 3, 4), (9, 10)
BATCH, PILOT_UPDATES, WARMUP = 32, 600, 50
RATES = (1e-3, 3e-3, 1e-2)
SOURCES = 30
"""Of each number of sentences, in the exam of each seed."""
LENGTH = 60
"""The most tokens of a translation; four sentences have at most 53, [END] included."""
BEAMS = (1, 2, 5, 20)
JUDGED = 1500
"""The updates after which the rule is asked."""
ALPHAS = (0.6, 1.0)
PENALISED = 20
"""The beam that the length penalty is tried with."""


@dataclass(frozen=True)
class Arm:
    """A way to train: the chance that a word is ``lost``, the share of training targets that is empty (``noise``), the
    ``smoothing`` of labels, and the numbers of ``updates`` after which a model is asked."""

    lost: float
    noise: float
    smoothing: float
    updates: tuple[int, ...]


ARMS = {
    "clean": Arm(0.5, 0.0, 0.0, (600, 1500)),
    "noise": Arm(0.5, 0.01, 0.0, (600, 1500)),
    "smoothing": Arm(0.5, 0.0, 0.1, (600, 1500, 4500)),
    "no words lost, noise": Arm(0.0, 0.01, 0.0, (200, 600)),
    "no words lost, smoothing": Arm(0.0, 0.0, 0.1, (600,)),
}


@cache
def spelling() -> Tokenizer:
    """One token for each word of the small world's sentences, English and Chinese."""
    return world_tokenizer(world.small(), texts=["sentences"])


@cache
def _ids() -> dict[str, int]:
    words = {word for said in sentences() for word in (*said.english, *said.chinese)}
    return {word: spelling().encode(word, plain=True)[0] for word in sorted(words)}


def written(text: Hypothesis) -> Words:
    """The words of a translation, [END] left out."""
    return tuple(spelling().tokens([token for token in text.tokens if token != spelling().vocab.end]))


def example(telegram: Telegram, empty: bool = False) -> PairExample:
    """A telegram as an Example, perhaps with the empty target that noise puts there."""
    source, target = ([_ids()[word] for word in words] for words in (telegram.source, telegram.target))
    return sequence_to_sequence(source, [] if empty else target, vocab=spelling().vocab)


def pairs(telegrams: Sequence[Telegram], empty: bool = False) -> PairBatch:
    """The batch of some telegrams."""
    return PairBatch.of([example(telegram, empty) for telegram in telegrams], pad=spelling().vocab.need("pad"))


def lessons(arm: Arm, seed: int) -> ExampleBatches:
    """Batches to learn from: one to four sentences each, a share ``arm.noise`` of the targets empty."""
    def drawn(rng: Random) -> list[PairExample]:
        return [example(draw(arm.lost, rng), rng.random() < arm.noise) for _ in range(BATCH)]
    return ExampleBatches(drawn, seed, spelling().vocab.need("pad"))


def exam(lost: float, count: int, seed: int | str, sources: int) -> list[Telegram]:
    """So many new telegrams of ``count`` sentences."""
    rng = Random(f"exam {lost} {count} {seed}")
    return [draw(lost, rng, count) for _ in range(sources)]


def learn(arm: Arm, updates: int, lr: float, seed: int, **options: Any) -> tuple[Transformer, History]:
    """An encoder-decoder of 2 + 2 layers of 64 after so many updates, and its history."""
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig(len(spelling()), dropout=0.0, smoothing=arm.smoothing))
    return model, fit(model, lessons(arm, seed), steps=updates, lr=lr, warmup=WARMUP, **options)


@none_if_diverged
def rate_score(lr: float, seed: int) -> float:
    """How good a learning rate is: minus the loss, in nats a token, on 300 other telegrams, of a model that learns as
    the arm "clean" does. All arms take that rate."""
    model, _ = learn(ARMS["clean"], PILOT_UPDATES, lr, seed, show=False)
    to_choose = [telegram for count in range(1, LONGEST + 1)
                 for telegram in exam(ARMS["clean"].lost, count, "choose", 75)]
    with torch.no_grad():
        return -float(model.loss(pairs(to_choose)))


@torch.no_grad()
def empty_chances(model: Transformer, telegrams: Sequence[Telegram]) -> list[float]:
    """p(empty | source), a telegram each: the chance that [END] comes first."""
    first = model(pairs(telegrams, empty=True))[:, 0].softmax(-1)
    return first[:, spelling().vocab.need("end")].tolist()


def beamed(model: Transformer, telegrams: Sequence[Telegram], beam: int, alpha: float = 0.0) -> list[Hypothesis]:
    """What a beam finds for each telegram; ten are searched side by side."""
    found = []
    for begin in range(0, len(telegrams), 10):
        some = pairs(telegrams[begin:begin + 10]).source
        start = torch.full((len(some.tokens), 1), spelling().vocab.need("start"))
        found += [texts[0] for texts in beam_search(Given(model, some), start, spelling().vocab, length=LENGTH,
                                                    beam=beam, alpha=alpha)]
    return found


def likeliest(model: Transformer, telegram: Telegram, *, empty: bool = True, limit: int = 30_000) -> Hypothesis | None:
    """The likeliest translation by exact search, or the likeliest that is not ``empty``; None where more than ``limit``
    prefixes of one length would have to be read."""
    start = torch.tensor([[spelling().vocab.need("start")]])
    try:
        found = exact_search(Given(model, pairs([telegram]).source), start, spelling().vocab, length=LENGTH,
                             count=1 if empty else 2, limit=limit).best
    except SearchTooWide:
        return None
    return next(text for text in found if empty or written(text))


def judged(lost: float, telegrams: Sequence[Telegram], texts: Sequence[Hypothesis | None]) -> dict[str, float]:
    """The share of ``empty`` and of ``right`` translations; one that was not found is neither."""
    words = [None if text is None else written(text) for text in texts]
    return {"empty": fmean(text == () for text in words),
            "right": fmean(text is not None and is_right(telegram.source, text, lost)
                           for telegram, text in zip(telegrams, words, strict=True))}


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


def run(name: str, updates: int, lr: float, seed: int) -> dict[str, Any]:
    """One run of an arm: number of sentences → `asked`."""
    arm = ARMS[name]
    model, _ = learn(arm, updates, lr, seed, show=False)
    return {str(count): asked(model, arm.lost, exam(arm.lost, count, seed, SOURCES), BEAMS, ALPHAS)
            for count in range(1, LONGEST + 1)}


def ideal(lost: float, count: int, seed: int) -> list[tuple[float, int]]:
    """For each telegram of a seed's exam: the probability of its likeliest text, and that text's words."""
    readings = [ideal_reading(telegram.source, lost) for telegram in exam(lost, count, seed, SOURCES)]
    return [(reading.probability, len(reading.english)) for reading in readings]


def prefers_empty(arm: Arm, probability: float, words: int) -> bool:
    """Whether a perfect learner of an arm's targets prefers the empty text to one of so many ``words``, which has that
    ``probability`` given the source.

    It has p(empty) = (1 − ε) · noise + ε / V, and leaves the text (1 − noise) · probability · (1 − ε)^(words + 1), ε
    being the smoothing. The shares that smoothing gives to the text's own words (ε / V each) are left out, and other
    texts may be likelier to it: with smoothing it prefers the empty one at most so often.
    """
    kept = 1 - arm.smoothing
    return (1 - arm.noise) * probability * kept**(words + 1) < kept * arm.noise + arm.smoothing / len(spelling())


def learned_perfectly(arm: Arm, readings: Sequence[Sequence[float | int]]) -> dict[str, float]:
    """The share of `ideal` readings to which a perfect learner of an arm prefers the ``empty`` text, and ``p(best)``,
    the median chance of the likeliest text in the world."""
    return {"empty": fmean(prefers_empty(arm, chance, int(words)) for chance, words in readings),
            "p(best)": median(chance for chance, _ in readings)}


def measure(parts: Parts) -> dict[str, Any]:
    """``sources`` of each number of sentences a seed, ``batch``, ``lr`` and the ``rates`` tried; and ``arms``: name →
    its ``lost``, ``noise``, ``smoothing``; ``ideal``: number of sentences → `learned_perfectly`;
    ``updates``: number of updates → number of sentences → `asked`; every figure with its spread."""
    lr, scores = best_rate(piloted(parts, rate_score, PILOTS), RATES)
    lengths = range(1, LONGEST + 1)
    runs = parts(run, [(name, updates, lr, seed)
                       for name, arm in ARMS.items() for updates in arm.updates for seed in SEEDS])
    readers = parts(ideal, [(arm.lost, count, seed) for arm in ARMS.values() for count in lengths for seed in SEEDS])
    told: dict[str, Any] = {}
    for name, arm in ARMS.items():
        told[name] = {
            "lost": arm.lost, "noise": arm.noise, "smoothing": arm.smoothing,
            "ideal": {str(count): spreads({seed: learned_perfectly(arm, readers[arm.lost, count, seed])
                                           for seed in SEEDS}) for count in lengths},
            "updates": {str(updates): spreads({seed: runs[name, updates, lr, seed] for seed in SEEDS})
                        for updates in arm.updates}}
    return {"sources": SOURCES, "batch": BATCH, "lr": lr, "rates": rates_tried(scores), "arms": told}


def verdict(arms: dict[str, Any], name: str) -> str:
    """What the rule above says of an arm, "noise" or "smoothing": holds, holds in part or fails. ``arms`` as `measure`
    tells them."""
    def empty(arm: str, way: str, count: int = LONGEST) -> float:
        return arms[arm]["updates"][str(JUDGED)][str(count)][way]["empty"]["mean"]

    exact = empty(name, "exact")
    if exact < 0.1 or exact <= empty(name, "exact", 1) or empty(name, "beam 1") or empty("clean", "exact") > 0.01:
        return "fails"
    return "holds" if empty(name, "beam 5") <= exact / 3 else "holds in part"


def is_models(arms: dict[str, Any], name: str) -> bool:
    """Whether the curse of an arm is the model's own by the rule above, and not that of what it was to learn."""
    model = arms[name]["updates"][str(JUDGED)][str(LONGEST)]["exact"]["empty"]["mean"]
    return arms[name]["ideal"][str(LONGEST)]["empty"]["mean"] < model / 2
