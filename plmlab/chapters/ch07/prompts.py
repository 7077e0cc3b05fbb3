"""In-context learning with a tiny GPT (Brown et al. 2020): label words whose meaning is defined only in the prompt.

Each sentence of a row is followed by one of two label words: one for singular sentences, the other for plural
sentences. In most text of this world the previous sentences are uninformative; here they are needed. Training rows use
any two of `NAMES`, except "red" and "blue" together; the test prompts use this pair, and the held-out test sentences.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache, partial
from random import Random
from typing import Any

import torch

from plmlab.batches import ExampleBatches
from plmlab.chapters.ch07.corpus import (
    Words,
    agreement_sentences,
    causal_batch,
    examples,
    held_out_sentences,
    pretrained,
)
from plmlab.draws import randint, shuffled
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.gpt import GPT2
from plmlab.recipes import none_if_diverged
from plmlab.train import History, fit
from plmlab.world.datasets.tokenizer import small_world_tokenizer

NAMES = ("red", "blue", "piano", "violin", "no", "with", "noon", "wood", "sings", "from", "money", "her")
TEST_NAMES = ("red", "blue")
PAIRS = [(one, other) for one in NAMES for other in NAMES if one != other and {one, other} != set(TEST_NAMES)]
SHOTS = (0, 2, 4, 8)
ROW, STEPS = 8, 1600
QUESTIONS = 200

Prompt = tuple[list[str], str]
"""The words of a prompt, and its target label word."""


@cache
def pools(from_test_set: bool) -> tuple[list[Words], list[Words]]:
    """Singular and plural sentences: the held-out test sentences, or all other sentences with "is" or "are"
    (cached)."""
    rows = [(words, number) for words, number in agreement_sentences().items()
            if (words in held_out_sentences()) == from_test_set]
    return [words for words, number in rows if number == "sg"], [words for words, number in rows if number == "pl"]


def row(rng: Random, names: Sequence[str], kinds: Sequence[int], from_test_set: bool) -> list[str]:
    """Sample sentences of these kinds (0: singular, 1: plural), each followed by its label word."""
    words: list[str] = []
    for kind in kinds:
        pool = pools(from_test_set)[kind]
        words += [*pool[randint(rng, len(pool))], names[kind]]
    return words


def prompt(rng: Random, shots: int, kind: int) -> Prompt:
    """A prompt with ``shots`` examples, half of each kind, and a query; the test label words are assigned to the kinds
    at random."""
    names = TEST_NAMES if rng.random() < 0.5 else TEST_NAMES[::-1]
    words = row(rng, names, [index % 2 for index in shuffled(rng, range(shots))] + [kind], from_test_set=True)
    return words[:-1], words[-1]


def test_set(shots: int, seed: int) -> list[Prompt]:
    """Test prompts, half of each kind."""
    rng = Random(f"exam {shots} {seed}")
    return [prompt(rng, shots, index % 2) for index in range(QUESTIONS)]


def label_word_examples(rows: Sequence[Sequence[str]]) -> list[Example]:
    """Causal LM examples in which only the label words are targets."""
    masked = []
    for words, example in zip(rows, examples(rows), strict=True):
        is_target = torch.zeros_like(example.targets, dtype=torch.bool)
        is_target[[i for i, word in enumerate(words) if i and words[i - 1] == "." and word in NAMES]] = True
        masked.append(replace(example, targets=example.targets.where(is_target, IGNORE)))
    return masked


def training_rows(rng: Random, count: int = 16) -> list[Example]:
    """Random training rows of eight sentences, each with a random pair of label words."""
    return label_word_examples([
        row(rng, PAIRS[randint(rng, len(PAIRS))], [randint(rng, 2) for _ in range(ROW)], from_test_set=False)
        for _ in range(count)])


def train_on_rows(seed: int, lr: float, **options: Any) -> tuple[GPT2, History]:
    """Train a pretrained GPT-2 for ``STEPS`` updates on rows in which the labels depend on the previous sentences."""
    gpt = deepcopy(pretrained(seed))
    rows = ExampleBatches(training_rows, f"rows {seed}", small_world_tokenizer().vocab.need("pad"))
    return gpt, fit(gpt, rows, steps=STEPS, lr=lr, warmup=20, decay="none", **options)


@torch.no_grad()
def answers(gpt: GPT2, prompts: Sequence[Prompt]) -> tuple[list[str], list[str]]:
    """Greedy answer to each prompt over the whole vocabulary, and restricted to the two label words."""
    logits = gpt(causal_batch([words for words, _ in prompts]))
    next_logits = logits[torch.arange(len(prompts)), torch.tensor([len(words) for words, _ in prompts])]
    best_name = next_logits[:, [small_world_tokenizer().id(name) for name in TEST_NAMES]].argmax(-1).tolist()
    return small_world_tokenizer().tokens(next_logits.argmax(-1).tolist()), [TEST_NAMES[i] for i in best_name]


def nearest_neighbour_answer(words: Sequence[str]) -> str:
    """Nearest-neighbour baseline: the label word of the example with the largest word overlap with the query (the first
    if tied); without examples, a constant label word."""
    *shots, query = examples_of(words)
    return max(shots, key=lambda shot: len(set(shot[:-1]) & set(query)))[-1] if shots else TEST_NAMES[0]


Answers = tuple[list[str], list[str]]
"""Answers to all prompts: over the whole vocabulary, and restricted to the two label words."""


def metrics_of(free: Sequence[str], chosen: Sequence[str], prompts: Sequence[Prompt]) -> dict[str, float]:
    """Evaluate answers. "one of two" is the fraction of unrestricted answers that are one of the label words; for the
    restricted answers, "right" is the accuracy, and "most given" the fraction of the most frequent answer (1 for a
    constant answer)."""
    correct = [word == name for word, (_, name) in zip(chosen, prompts, strict=True)]
    return {"one of two": sum(word in TEST_NAMES for word in free) / len(free), "right": sum(correct) / len(correct),
            "most given": Counter(chosen).most_common(1)[0][1] / len(chosen)}


def evaluate_prompts(answer: Callable[[Sequence[Prompt]], Answers], seed: int) -> dict[str, dict[str, float]]:
    """Map each number of in-context examples to the metrics of the answers (see `metrics_of`)."""
    exams = {shots: test_set(shots, seed) for shots in SHOTS}
    return {str(shots): metrics_of(*answer(prompts), prompts) for shots, prompts in exams.items()}


def pretrained_metrics(seed: int) -> dict[str, dict[str, float]]:
    """`metrics_of` a GPT-2 pretrained on single sentences."""
    return evaluate_prompts(partial(answers, pretrained(seed)), seed)


def row_trained_metrics(lr: float, seed: int) -> dict[str, dict[str, float]]:
    """`metrics_of` a GPT-2 trained on rows in which the examples are informative."""
    gpt, _ = train_on_rows(seed, lr, show=False)
    return evaluate_prompts(partial(answers, gpt), seed)


def nearest_neighbour_baseline(seed: int) -> dict[str, dict[str, float]]:
    """`metrics_of` the nearest-neighbour baseline."""
    return evaluate_prompts(lambda prompts: ([nearest_neighbour_answer(words) for words, _ in prompts],) * 2, seed)


@none_if_diverged
def lr_score(lr: float, seed: int) -> float:
    """Score of a learning rate: the negative loss on new rows, in nats per label word."""
    gpt, _ = train_on_rows(seed, lr, show=False)
    new = Batch.of(training_rows(Random(f"development {seed}"), 64), pad=small_world_tokenizer().vocab.need("pad"))
    with torch.no_grad():
        return -float(gpt.loss(new))


def examples_of(words: Sequence[str]) -> list[list[str]]:
    """Split a prompt into its sentences, each with its label word; the last sentence has no label word."""
    rows: list[list[str]] = [[]]
    for word in words:
        if rows[-1] and rows[-1][-1] == "." and word in NAMES:
            rows[-1].append(word)
            rows.append([])
        else:
            rows[-1].append(word)
    return rows
