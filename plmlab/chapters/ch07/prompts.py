"""Can a tiny GPT learn from examples in its prompt (Brown et al. 2020)? What a row's names mean, only the row says.

Behind each sentence of a row stands a name: one of two for a sentence about one thing, the other for one about several.
In most text of this world nothing of what stood before helps; here it must. Training rows take any two of `NAMES`, but
never "red" and "blue" together; the prompts of the exam do, and their sentences are the exam's.
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
from plmlab.chapters.ch07.corpus import Words, agreeing, examples, kept, pretrained, reading
from plmlab.draws import randint, shuffled
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.gpt import GPT2
from plmlab.recipes import none_if_diverged
from plmlab.train import History, fit
from plmlab.world.datasets.tokenizer import small_world_tokenizer

NAMES = ("red", "blue", "piano", "violin", "no", "with", "noon", "wood", "sings", "from", "money", "her")
EXAM_NAMES = ("red", "blue")
PAIRS = [(one, other) for one in NAMES for other in NAMES if one != other and {one, other} != set(EXAM_NAMES)]
SHOTS = (0, 2, 4, 8)
ROW, STEPS = 8, 1600
QUESTIONS = 200

Prompt = tuple[list[str], str]
"""The words of a prompt, and the name that should follow."""


@cache
def pools(of_the_exam: bool) -> tuple[list[Words], list[Words]]:
    """Sentences about one thing, and about several: the exam's, or all others with "is" or "are"."""
    told = [(words, number) for words, number in agreeing().items() if (words in kept()) == of_the_exam]
    return [words for words, number in told if number == "sg"], [words for words, number in told if number == "pl"]


def row(rng: Random, names: Sequence[str], kinds: Sequence[int], of_the_exam: bool) -> list[str]:
    """Sentences of these kinds (0: about one thing, 1: several), each with its kind's name behind it."""
    told: list[str] = []
    for kind in kinds:
        pool = pools(of_the_exam)[kind]
        told += [*pool[randint(rng, len(pool))], names[kind]]
    return told


def prompt(rng: Random, shots: int, kind: int) -> Prompt:
    """So many examples, half of each kind, and a sentence of this kind, with the names of the exam either way round."""
    names = EXAM_NAMES if rng.random() < 0.5 else EXAM_NAMES[::-1]
    whole = row(rng, names, [place % 2 for place in shuffled(rng, range(shots))] + [kind], of_the_exam=True)
    return whole[:-1], whole[-1]


def test_set(shots: int, seed: int) -> list[Prompt]:
    """The prompts of an exam, as many of each kind."""
    rng = Random(f"exam {shots} {seed}")
    return [prompt(rng, shots, place % 2) for place in range(QUESTIONS)]


def named(rows: Sequence[Sequence[str]]) -> list[Example]:
    """Rows as Examples, in which only the positions before a name must say something: the name."""
    told = []
    for words, example in zip(rows, examples(rows), strict=True):
        asked = torch.zeros_like(example.targets, dtype=torch.bool)
        asked[[i for i, word in enumerate(words) if i and words[i - 1] == "." and word in NAMES]] = True
        told.append(replace(example, targets=example.targets.where(asked, IGNORE)))
    return told


def drawn(rng: Random, count: int = 16) -> list[Example]:
    """Rows of eight sentences to learn from, each with a pair of names drawn for it."""
    return named([row(rng, PAIRS[randint(rng, len(PAIRS))], [randint(rng, 2) for _ in range(ROW)], of_the_exam=False)
                  for _ in range(count)])


def rewarded(seed: int, lr: float, **options: Any) -> tuple[GPT2, History]:
    """A pretrained GPT-2 after ``STEPS`` updates on rows that reward who uses what stood before."""
    gpt = deepcopy(pretrained(seed))
    rows = ExampleBatches(drawn, f"rows {seed}", small_world_tokenizer().vocab.need("pad"))
    return gpt, fit(gpt, rows, steps=STEPS, lr=lr, warmup=20, decay="none", **options)


@torch.no_grad()
def answers(gpt: GPT2, prompts: Sequence[Prompt]) -> tuple[list[str], list[str]]:
    """Behind each prompt: the word that a GPT finds likeliest, and the likelier of the two names."""
    logits = gpt(reading([words for words, _ in prompts]))
    said = logits[torch.arange(len(prompts)), torch.tensor([len(words) for words, _ in prompts])]
    two = said[:, [small_world_tokenizer().id(name) for name in EXAM_NAMES]].argmax(-1).tolist()
    return small_world_tokenizer().tokens(said.argmax(-1).tolist()), [EXAM_NAMES[place] for place in two]


def most_alike(words: Sequence[str]) -> str:
    """What the rival says who is trained on nothing: the name of the example that shares the most words with the last
    sentence (of several the first); without examples, always the same."""
    *told, asked = examples_of(words)
    return max(told, key=lambda one: len(set(one[:-1]) & set(asked)))[-1] if told else EXAM_NAMES[0]


Answers = tuple[list[str], list[str]]
"""With any word, and with one of the two names: an answer to each prompt."""


def marks(free: Sequence[str], chosen: Sequence[str], prompts: Sequence[Prompt]) -> dict[str, float]:
    """The share of free answers that are "one of two", either name of the row; and of those that are chosen between the
    two names, the share "right", and of the one that was given most (1 for who says always the same)."""
    right = [word == name for word, (_, name) in zip(chosen, prompts, strict=True)]
    return {"one of two": sum(word in EXAM_NAMES for word in free) / len(free), "right": sum(right) / len(right),
            "most given": Counter(chosen).most_common(1)[0][1] / len(chosen)}


def asked(answer: Callable[[Sequence[Prompt]], Answers], seed: int) -> dict[str, dict[str, float]]:
    """Examples in the prompt → the marks of who answers."""
    exams = {shots: test_set(shots, seed) for shots in SHOTS}
    return {str(shots): marks(*answer(prompts), prompts) for shots, prompts in exams.items()}


def plain(seed: int) -> dict[str, dict[str, float]]:
    """The marks of a GPT-2 that has read single sentences."""
    return asked(partial(answers, pretrained(seed)), seed)


def rewarded_marks(lr: float, seed: int) -> dict[str, dict[str, float]]:
    """The marks of a GPT-2 that was rewarded for using the examples."""
    gpt, _ = rewarded(seed, lr, show=False)
    return asked(partial(answers, gpt), seed)


def rival(seed: int) -> dict[str, dict[str, float]]:
    """The marks of who is trained on nothing, and takes the name of the example that is most alike."""
    return asked(lambda prompts: ([most_alike(words) for words, _ in prompts],) * 2, seed)


@none_if_diverged
def rate_score(lr: float, seed: int) -> float:
    """How good a learning rate is: minus the loss on rows that it was not trained on, in nats a name."""
    gpt, _ = rewarded(seed, lr, show=False)
    new = Batch.of(drawn(Random(f"development {seed}"), 64), pad=small_world_tokenizer().vocab.need("pad"))
    with torch.no_grad():
        return -float(gpt.loss(new))


def examples_of(words: Sequence[str]) -> list[list[str]]:
    """A prompt's sentences, each with the name behind it; the last has none."""
    told: list[list[str]] = [[]]
    for word in words:
        if told[-1] and told[-1][-1] == "." and word in NAMES:
            told[-1].append(word)
            told.append([])
        else:
            told[-1].append(word)
    return told
