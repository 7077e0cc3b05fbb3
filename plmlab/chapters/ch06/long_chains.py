"""Agreement over 50 and 200 words, where the path between noun and verb is long: does a short path make it easier?

"the kite beside the red boxes under the dolls … is": two hundred words of toys and boxes, each in the singular or in
the plural by the toss of a coin, and only the verb is asked. Which it is hangs on the first noun alone.
"""

from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.chapters.ch06.agreement import PREPOSITIONS
from plmlab.chapters.ch06.readers import LSTM, SinusoidalGPT2
from plmlab.draws import randint
from plmlab.example import IGNORE, Batch
from plmlab.models.gpt import GPTConfig
from plmlab.recipes import none_if_diverged
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import History, fit

LENGTHS, UNSEEN = (50, 200), 500
"""Words between noun and verb that are trained on, and those that are only asked."""
STEPS, EVERY, BATCH = 600, 25, 32
KINDS = ("Transformer", "LSTM")
VERBS = ("is", "are")


@cache
def words() -> tuple[list[tuple[str, str]], list[str], dict[str, int]]:
    """Nouns as (singular, plural), adjectives, and word → id for all words of these sentences."""
    classes = world.full().lexicon.classes
    nouns = [(noun.forms["sg"], noun.forms["pl"]) for kind in ("toy", "container") for noun in classes[kind]]
    adjectives = [colour.lemma for colour in classes["colour"]]
    known = sorted({*(form for noun in nouns for form in noun), *adjectives, *PREPOSITIONS, "the", *VERBS})
    return nouns, adjectives, {word: id for id, word in enumerate(known, Vocabulary(0).sentinels[-1] + 1)}


def chain(between: int, rng: Random) -> tuple[list[str], str]:
    """A sentence up to its verb, which comes ``between`` words behind the noun; and the verb. ValueError where places
    of three and four words cannot fill that up."""
    nouns, adjectives, _ = words()
    if between < 3 or between == 5:
        raise ValueError(f"places take 3 or 4 words each, and cannot fill {between}")

    def noun(plural: bool) -> str:
        return nouns[randint(rng, len(nouns))][plural]
    plural = rng.random() < 0.5
    told, left = ["the", noun(plural)], between
    while left:
        size = 3 + (rng.random() < 0.5)
        if left - size in (1, 2, 5) or left < size:
            size = 7 - size
        adjective = [adjectives[randint(rng, len(adjectives))]] * (size - 3)
        told += [sorted(PREPOSITIONS)[randint(rng, len(PREPOSITIONS))], "the", *adjective, noun(rng.random() < 0.5)]
        left -= size
    return told, VERBS[plural]


def asked(between: int, seed: str, count: int = BATCH) -> Batch:
    """A batch of such sentences; the last position of each is to say the verb, and no other position anything."""
    rng, ids = Random(seed), words()[2]
    told = [chain(between, rng) for _ in range(count)]
    batch = Batch.continuing(torch.tensor([[ids[word] for word in sentence] for sentence, _ in told]), 0)
    targets = torch.full_like(batch.tokens, IGNORE)
    targets[:, -1] = torch.tensor([ids[verb] for _, verb in told])
    return replace(batch, targets=targets)


def build(kind: str, seed: int, between: int) -> nn.Module:
    """A Transformer of two layers with sinusoids, or an LSTM of one that starts with a memory as long as its sentences:
    about 104,000 parameters each."""
    torch.manual_seed(seed)
    size = max(words()[2].values()) + 1
    if kind == "Transformer":
        return SinusoidalGPT2(GPTConfig(size, layers=2, model=64, heads=4, dropout=0.0))
    return LSTM(size, width=108, layers=1, memory=between)


@torch.no_grad()
def right(model: nn.Module, between: int, part: str = "test_set") -> float:
    """The share of 300 new sentences in which the right verb gets the higher probability; ``part`` draws them."""
    batch, verbs = asked(between, f"{part} {between}", 300), torch.tensor([words()[2][verb] for verb in VERBS])
    was_training = model.training
    model.eval()
    said = verbs[model(batch)[:, -1, verbs].argmax(-1)]
    model.train(was_training)
    return float((said == batch.targets[:, -1]).float().mean())


def learn(kind: str, seed: int, lr: float, between: int, steps: int = STEPS, part: str = "test_set", **options: Any,
          ) -> tuple[list[float], nn.Module, History]:
    """Train on sentences of one length; the share right after every ``EVERY`` steps, the model, the run's history."""
    model, seen = build(kind, seed, between), []

    def look() -> list[Batch]:
        seen.append(right(model, between, part))
        return [asked(between, "loss")]
    history = fit(model, lambda step: asked(between, f"{seed} {step}"), steps=steps, lr=lr, warmup=50, decay="none",
                  evaluate=look, evaluate_every=EVERY, **options)
    return seen, model, history


@none_if_diverged
def soon(kind: str, between: int, lr: float, seed: int) -> float:
    """How soon a rate teaches it: the mean share right over a run."""
    seen, _, _ = learn(kind, seed, lr, between, part="choose", show=False)
    return sum(seen) / len(seen)


def run(kind: str, between: int, lr: float, seed: int) -> dict[str, Any]:
    """One run: "seen", the share right step by step; "unseen", that over 500 words, which it never read."""
    seen, model, _ = learn(kind, seed, lr, between, show=False)
    return {"seen": seen, "unseen": right(model, UNSEEN)}
