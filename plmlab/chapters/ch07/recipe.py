"""Chapter 07: how much is pretraining worth, by the number of labels? And does a tiny GPT learn from a prompt?

The task is CoLA's (Radford et al. 2018, table 4) in miniature: is this sentence right? Half of the sentences have the
wrong one of "is" and "are". A GPT-2 of three layers is fine-tuned on few labels or many: from scratch, pretrained, and
pretrained with the language model's loss as auxiliary (eq. 5).
"""

from collections.abc import Sequence
from functools import cache
from itertools import islice
from math import exp, log
from random import Random
from typing import Any

import torch

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.draws import below, shuffled
from plmlab.example import Batch, Example
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.gpt_classifier import GPT2Classifier
from plmlab.objectives import causal, extracted
from plmlab.recipes import spread
from plmlab.text import Tokenizer
from plmlab.train import History, fit
from plmlab.world.datasets.tokenizer import world_tokenizer

SEEDS = (0, 1, 2)
PILOT = 9
"""The seed that the learning rates are chosen with; it is not used for the results."""
RATES = (1e-3, 3e-3)
LABELS = (16, 32, 64, 128, 232)
STEPS = 300
KINDS = {"from scratch": (False, 0.0), "pretrained": (True, 0.0), "pretrained, λ = 0.5": (True, 0.5)}
"""Each: whether it is pretrained, and λ, the weight of the words' loss while it is tuned."""
OTHER = {"is": "are", "are": "is"}
EXAM = 100
"""So many sentences are kept for the exam, and no text of the pretraining holds them."""
SHOTS = (0, 2, 4, 8)
NAMES = {"sg": "red", "pl": "blue"}
"""What the examples of a prompt call a sentence about one thing, and one about several."""

Words = tuple[str, ...]
Judged = tuple[Words, int]
"""A sentence, and whether it is right."""


@cache
def spelling() -> Tokenizer:
    """The tokenizer of the small world: one token for each of its English words."""
    return world_tokenizer(world.small(), ["english"], ["sentences"])


@cache
def agreeing() -> dict[Words, str]:
    """Sentences of the small world whose verb is "is" or "are", in a random order → the number of the subject."""
    drawn = islice(world.small().sentences("train", seed=5), 20_000)
    found = {sentence.words: link.number for sentence in drawn for link in sentence.agreement
             if sentence.words[link.verb] in OTHER}
    listed = sorted(found)
    return {words: found[words] for words in shuffled(Random(0), listed)}


@cache
def kept() -> frozenset[Words]:
    """The sentences of the exam, which no text of the pretraining holds."""
    return frozenset(list(agreeing())[:EXAM])


def sentences(seed: float, count: int) -> list[Words]:
    """The first ``count`` sentences of a text of the small world, drawn with the seed, without those of the exam."""
    text = map(tuple, world.small().text("train", seed=int(seed * 2**53)))
    return list(islice((words for words in text if words not in kept()), count))


def best_reader(texts: Sequence[Words]) -> float:
    """What these sentences cost one who knows the grammar, and that the exam's do not occur; nats a token, exactly."""
    left = 1 - sum(exp(world.small().logprob(words)) for words in kept())
    nats = sum(log(left) - world.small().logprob(words) for words in texts)
    return nats / sum(len(words) + 1 for words in texts)


def floor() -> float:
    """The lowest loss on text without the exam's sentences: its entropy, in nats a token, exactly."""
    whole, apart = world.small().entropy("train"), {words: world.small().logprob(words) for words in kept()}
    left = 1 - sum(map(exp, apart.values()))
    nats = (whole.sentence + sum(exp(p) * p for p in apart.values())) / left + log(left)
    return nats * left / (whole.tokens - sum(exp(p) * (len(words) + 1) for words, p in apart.items()))


def ids(words: Sequence[str]) -> list[int]:
    """The ids of some words, one token a word."""
    return spelling().encode(" ".join(words), plain=True)


def examples(rows: Sequence[Sequence[str]]) -> list[Example]:
    """The texts as Examples, each slot to say the next word."""
    return [causal(ids(row), vocab=spelling().vocab, rng=Random(0)) for row in rows]


def reading(rows: Sequence[Sequence[str]]) -> Batch:
    """The batch of some texts, each slot to say the next word."""
    return Batch.of(examples(rows), pad=spelling().vocab.need("pad"))


def fresh(seed: int) -> GPT2:
    """A GPT-2 of three layers of 64 that has read nothing, with random weights of this seed."""
    torch.manual_seed(seed)
    return GPT2(GPTConfig(len(spelling()), time=128, layers=3, model=64, heads=4, dropout=0.0))


def pretrain(seed: int, steps: int = 500, **options: Any) -> tuple[GPT2, History]:
    """A fresh GPT-2 after ``steps`` updates, each on 32 new sentences; and the history of the run."""
    gpt = fresh(seed)
    text = ExampleBatches(lambda rng: examples(sentences(rng.random(), 32)), seed, spelling().vocab.need("pad"))
    return gpt, fit(gpt, text, steps=steps, lr=1e-2, warmup=50, **options)


def labelled_examples(rows: Sequence[Judged]) -> list[Example]:
    """Labelled sentences as GPT reads them: [START] … [END], and what is asked is asked at [END]."""
    return [extracted(ids(words), right, vocab=spelling().vocab) for words, right in rows]


def judging(rows: Sequence[Judged]) -> Batch:
    """The batch of labelled sentences as GPT reads them."""
    return Batch.of(labelled_examples(rows), pad=spelling().vocab.need("pad"))


def spoilt(words: Words) -> Words:
    """The sentence with "is" and "are" exchanged."""
    return tuple(OTHER.get(word, word) for word in words)


def labelled(count: int, seed: int) -> list[Judged]:
    """So many labelled sentences, none of the exam's; every second one is spoilt, with label 0."""
    rest = list(agreeing())[EXAM:]
    chosen = shuffled(Random(seed), rest)[:count]
    return [(spoilt(words), 0) if place % 2 else (words, 1) for place, words in enumerate(chosen)]


@cache
def exam() -> Batch:
    """The batch of the exam: each of the kept sentences as it is, with label 1, and spoilt, with label 0."""
    return judging([pair for words in sorted(kept()) for pair in ((words, 1), (spoilt(words), 0))])


def tune(gpt: GPT2, labels: int, auxiliary: float, seed: int, lr: float, steps: int = STEPS, **options: Any,
         ) -> GPT2Classifier:
    """A copy of the GPT-2 with a classifier on top, fine-tuned on so many labelled sentences; ``auxiliary`` is λ."""
    torch.manual_seed(seed)
    rows = labelled(labels, seed)
    model = GPT2Classifier.on(gpt, labels=2, extract=spelling().vocab.need("end"), auxiliary=auxiliary)

    def draw(rng: Random) -> list[Example]:
        return labelled_examples([rows[below(rng, labels)] for _ in range(32)])
    fit(model, ExampleBatches(draw, seed, spelling().vocab.need("pad")), steps=steps, lr=lr, warmup=20, **options)
    return model


def accuracy(model: GPT2Classifier) -> float:
    """The share of the exam that a classifier gets right."""
    with torch.no_grad():
        return float((model(exam()).argmax(-1) == exam().labels["class"]).float().mean())


def rows_of(texts: Sequence[Words]) -> list[list[str]]:
    """The sentences joined, eight to a row, as lists of words."""
    return [[word for words in texts[i:i + 8] for word in words] for i in range(0, len(texts), 8)]


def in_rows(gpt: GPT2, seed: int, steps: int = 400, **options: Any) -> float:
    """Train a GPT-2 further on rows of eight sentences, so that it knows what a long text looks like.

    Returns how far its loss on new rows is above the best reader's, as a share of that. (The end of a sentence is
    certain in this world and costs that reader nothing, so that his nats are those of the sentences.)
    """
    text = ExampleBatches(lambda rng: examples(rows_of(sentences(rng.random(), 64))), f"rows {seed}",
                          spelling().vocab.need("pad"))
    fit(gpt, text, steps=steps, lr=6e-3, warmup=20, **options)
    new = sentences(0.5, 400)
    words = sum(map(len, new))
    nats = best_reader(new) * (words + len(new))
    with torch.no_grad():
        return float(gpt.loss(reading(rows_of(new)))) * (words + len(new) // 8) / nats - 1


def few_shot(gpt: GPT2, shots: int, seed: int, count: int = 200) -> float:
    """The share of sentences that get their right name after so many examples in the prompt, half of each name."""
    names, right = list(NAMES.values()), 0
    pools = [[words for words, number in agreeing().items() if NAMES[number] == name] for name in names]
    colours = torch.tensor([spelling().id(name) for name in names])
    rng = Random(seed)
    for place in range(count):
        order = [i % 2 for i in shuffled(rng, range(shots))] + [place % 2]
        prompt = [word for kind in order for word in (*pools[kind][below(rng, len(pools[kind]))], names[kind])][:-1]
        with torch.no_grad():
            said = gpt(reading([prompt]))[0, -1, colours]
        right += int(said.argmax()) == place % 2
    return right / count


def tuned(kind: str, readers: dict[int, GPT2], lr: float, labels: int, seed: int) -> float:
    """One point of a curve: the accuracy of one kind, tuned on so many labels with one seed."""
    pretrained, auxiliary = KINDS[kind]
    gpt = readers[seed] if pretrained else fresh(seed)
    return accuracy(tune(gpt, labels, auxiliary, seed, lr, show=False))


def main() -> dict[str, Any]:
    """What chapter 07 records: accuracy by the number of labels, and by the number of examples in a prompt."""
    readers = {seed: pretrain(seed, show=False)[0] for seed in (*SEEDS, PILOT)}
    told: dict[str, Any] = {}
    for kind in KINDS:
        lr = max(RATES, key=lambda lr: sum(tuned(kind, readers, lr, labels, PILOT) for labels in LABELS[1:4]))
        told[kind] = {"lr": lr, "points": [spread({seed: tuned(kind, readers, lr, labels, seed) for seed in SEEDS})
                                           for labels in LABELS]}
    losses = {seed: best_reader(sentences(0.5, 600)) for seed in SEEDS}
    with torch.no_grad():
        above = {seed: float(readers[seed].loss(reading(sentences(0.5, 600)))) / losses[seed] - 1 for seed in SEEDS}
    in_rows_above = {seed: in_rows(readers[seed], seed, show=False) for seed in SEEDS}
    prompts = [spread({seed: few_shot(readers[seed], shots, seed) for seed in SEEDS}) for shots in SHOTS]
    return {"labels": list(LABELS), "fine-tuning": told, "above the floor": spread(above),
            "above the floor in rows": spread(in_rows_above), "shots": list(SHOTS), "prompts": prompts}
