"""Agreement over 50 and 200 words: is a long-range dependency easier to learn with a short path between positions?

In "the kite beside the red boxes under the dolls … is", two hundred words about toys and boxes, each noun is singular
or plural with probability ½. Only the verb is a target, and its form depends only on the first noun.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.chapters.ch06.agreement import PREPOSITIONS
from plmlab.chapters.ch06.models import LSTM, SinusoidalGPT2
from plmlab.draws import randint
from plmlab.example import IGNORE, Batch
from plmlab.models.gpt import GPTConfig
from plmlab.recipes import none_if_diverged
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import History, fit

LENGTHS, UNSEEN = (50, 200), 500
"""Numbers of words between noun and verb in training, and one that is used only for testing."""
STEPS, EVERY, BATCH = 600, 25, 32
KINDS = ("Transformer", "LSTM")
VERBS = ("is", "are")
RULES: dict[str, Callable[[list[int]], int]] = {
    "always the same verb": lambda nouns: 1,
    "agreement with the last noun": lambda nouns: nouns[-1],
    "agreement with the majority of the nouns": lambda nouns: 2 * sum(nouns) > len(nouns),
    "agreement with the first noun": lambda nouns: nouns[0],
}
"""Rule-based baselines, as functions of the numbers of a sentence's nouns (1 for plural)."""


@cache
def words() -> tuple[list[tuple[str, str]], list[str], dict[str, int]]:
    """The nouns as (singular, plural), the adjectives, and a mapping from all words of these sentences to token ids
    (cached)."""
    classes = world.full().lexicon.classes
    nouns = [(noun.forms["sg"], noun.forms["pl"]) for kind in ("toy", "container") for noun in classes[kind]]
    adjectives = [colour.lemma for colour in classes["colour"]]
    known = sorted({*(form for noun in nouns for form in noun), *adjectives, *PREPOSITIONS, "the", *VERBS})
    return nouns, adjectives, {word: id for id, word in enumerate(known, Vocabulary(0).sentinels[-1] + 1)}


def sample_sentence(between: int, rng: Random) -> tuple[list[str], str]:
    """Sample a sentence with ``between`` words between noun and verb; return the words before the verb, and the verb.

    Raises ValueError if prepositional phrases of three and four words cannot add up to ``between``.
    """
    nouns, adjectives, _ = words()
    if between < 3 or between == 5:
        raise ValueError(f"between={between} is not a sum of phrases of 3 or 4 words; use 3, 4, or 6 and more")

    def noun(plural: bool) -> str:
        return nouns[randint(rng, len(nouns))][plural]
    plural = rng.random() < 0.5
    sentence, left = ["the", noun(plural)], between
    while left:
        size = 3 + (rng.random() < 0.5)
        if left - size in (1, 2, 5) or left < size:
            size = 7 - size
        adjective = [adjectives[randint(rng, len(adjectives))]] * (size - 3)
        sentence += [sorted(PREPOSITIONS)[randint(rng, len(PREPOSITIONS))], "the", *adjective, noun(rng.random() < 0.5)]
        left -= size
    return sentence, VERBS[plural]


def rule_accuracy(rule: Callable[[list[int]], int], between: int = 50, sentences: int = 2000) -> float:
    """Accuracy of a rule that maps the numbers of a sentence's nouns (1 for plural) to the number of the verb."""
    number = {form: plural for noun in words()[0] for plural, form in enumerate(noun)}
    rng, correct = Random(0), 0
    for _ in range(sentences):
        sentence, verb = sample_sentence(between, rng)
        correct += rule([number[word] for word in sentence if word in number]) == VERBS.index(verb)
    return correct / sentences


def batch_of(between: int, seed: str, count: int = BATCH) -> Batch:
    """A batch of sentences with ``between`` words between noun and verb. The verb is the target at the last position;
    there are no other targets."""
    rng, ids = Random(seed), words()[2]
    rows = [sample_sentence(between, rng) for _ in range(count)]
    batch = Batch.continuing(torch.tensor([[ids[word] for word in sentence] for sentence, _ in rows]), 0)
    targets = torch.full_like(batch.tokens, IGNORE)
    targets[:, -1] = torch.tensor([ids[verb] for _, verb in rows])
    return replace(batch, targets=targets)


def build(kind: str, seed: int, between: int) -> nn.Module:
    """Return an untrained model with about 104,000 parameters: a two-layer Transformer with sinusoidal positions, or a
    one-layer LSTM with chrono initialization up to the sentence length."""
    torch.manual_seed(seed)
    size = max(words()[2].values()) + 1
    if kind == "Transformer":
        return SinusoidalGPT2(GPTConfig(size, layers=2, model=64, heads=4, dropout=0.0))
    return LSTM(size, width=108, layers=1, memory=between)


@torch.no_grad()
def accuracy(model: nn.Module, between: int, part: str = "test_set") -> float:
    """Accuracy on 300 new sentences, where a prediction is correct if the correct verb form has the higher probability;
    ``part`` selects the sample."""
    batch, verbs = batch_of(between, f"{part} {between}", 300), torch.tensor([words()[2][verb] for verb in VERBS])
    was_training = model.training
    model.eval()
    predicted = verbs[model(batch)[:, -1, verbs].argmax(-1)]
    model.train(was_training)
    return float((predicted == batch.targets[:, -1]).float().mean())


def learn(kind: str, seed: int, lr: float, between: int, steps: int = STEPS, part: str = "test_set", **options: Any,
          ) -> tuple[list[float], nn.Module, History]:
    """Train on sentences of one length; return the accuracies after every ``EVERY`` steps, the model, and the history
    of the run."""
    model, accuracies = build(kind, seed, between), []

    def evaluate() -> list[Batch]:
        accuracies.append(accuracy(model, between, part))
        return [batch_of(between, "loss")]
    history = fit(model, lambda step: batch_of(between, f"{seed} {step}"), steps=steps, lr=lr, warmup=50, decay="none",
                  evaluate=evaluate, evaluate_every=EVERY, **options)
    return accuracies, model, history


@none_if_diverged
def lr_score(kind: str, between: int, lr: float, seed: int) -> float:
    """Score of a learning rate: the mean accuracy over a run."""
    accuracies, _, _ = learn(kind, seed, lr, between, part="choose", show=False)
    return sum(accuracies) / len(accuracies)


def run(kind: str, between: int, lr: float, seed: int) -> dict[str, Any]:
    """Train once; return the accuracies during training ("seen") and the accuracy at 500 words, a length not trained on
    ("unseen")."""
    accuracies, model, _ = learn(kind, seed, lr, between, show=False)
    return {"seen": accuracies, "unseen": accuracy(model, UNSEEN)}
