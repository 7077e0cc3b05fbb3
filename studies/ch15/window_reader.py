"""A baseline of CogLTX that reads all blocks: a BERT on windows of consecutive blocks, whose answers are combined by
voting.

A window without the answer has the null answer, [CLS] to [CLS], as in BERT on SQuAD 2.0 (Devlin et al. 2019, §4.3).
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import torch

from plmlab.draws import choice
from plmlab.example import Batch, Example
from plmlab.models.cogltx import ANSWER_TOKENS, batches_of, reasoner_example, window_example
from plmlab.models.cogltx_training import LongText, texts_of_update
from plmlab.models.memory_recall import BlockSpan, MemoryBlock, Window, fitting
from plmlab.models.task_heads import SpanClassifier, best_span
from plmlab.weights import device_of

Words = tuple[int, ...]


def sliding_windows(query: Sequence[int], blocks: Sequence[MemoryBlock], capacity: int) -> list[Window]:
    """Windows of consecutive blocks, filled up to the capacity; each begins in the middle of the one before, and the
    last one ends with the text."""
    windows, begin = [], 0
    while True:
        window = _from(query, blocks, begin, capacity)
        windows.append(window)
        if window.blocks[-1] == blocks[-1]:
            return windows
        begin += max(1, len(window.blocks) // 2)


def _from(query: Sequence[int], blocks: Sequence[MemoryBlock], begin: int, capacity: int) -> Window:
    """The window of consecutive blocks that begins with the block at ``begin``, with at least one block."""
    first, *others = blocks[begin:]
    return Window(tuple(query), (first, *fitting(others, capacity - len(query) - len(first))))


def labelled_window(window: Window, answer: BlockSpan) -> Example:
    """The training example of a window: the answer if its block is in the window, otherwise the null answer."""
    if answer.position in window.positions:
        return reasoner_example(window, *answer)
    return replace(window_example(window), labels={"start": torch.tensor(0), "end": torch.tensor(0)})


def window_batches(texts: Sequence[LongText], capacity: int, size: int, seed: int) -> Callable[[int], Batch]:
    """Batches of ``size`` texts with two windows each, one that contains the answer and any other; all texts once per
    epoch."""
    def batch(step: int) -> Batch:
        rng, examples = Random(f"{seed}:{step}:windows"), []
        for text in texts_of_update(texts, step, size, seed)[1]:
            windows = [_from(text.query, text.blocks, begin, capacity) for begin in range(len(text.blocks))]
            having = [window for window in windows if text.answer.position in window.positions]
            examples += [labelled_window(choice(rng, some), text.answer) for some in (having, windows)]
        return Batch.of(examples, pad=0)
    return batch


@torch.no_grad()
def read(reader: SpanClassifier, windows: Sequence[Window]) -> list[tuple[Words, float]]:
    """The most likely answer in each window, and its probability p(start) · p(end); the null answer competes for this
    probability."""
    found = []
    for batch, some in batches_of(windows, device_of(reader)):
        logits = reader(batch)
        text = (batch.segments == 1) & batch.padding_mask
        best = best_span(logits, text, ANSWER_TOKENS).tolist()
        for window, row, (start, end) in zip(some, logits.log_softmax(1), best, strict=True):
            found.append((window.ids[start:end + 1], float((row[start, 0] + row[end, 1]).exp())))
    return found


def vote(answers: Sequence[tuple[Words, float]]) -> Words:
    """The answer with the highest sum of probabilities over all windows."""
    votes: dict[Words, float] = defaultdict(float)
    for words, probability in answers:
        votes[words] += probability
    return max(votes, key=votes.__getitem__)
