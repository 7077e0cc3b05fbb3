"""Training windows of CogLTX (Ding et al. 2020, §3.3): which blocks judge and reasoner are trained on, and relevance
that is found by interventions, without labels.

The judge is trained on windows of consecutive blocks, as in retrieval competition, and on windows of relevant blocks
among others, as in rehearsal; the reasoner on the relevant blocks, together with those that the judge scored highest so
far, or with random ones.

Differences from the authors' code: all windows are filled up to the capacity, there they have eight blocks; the judge's
scores select the promising blocks, there they are rounded to integers, all 0, so that arbitrary blocks are selected; a
level changes directly after an intervention, there at the end of the epoch.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

import torch

from plmlab.draws import choice, shuffled
from plmlab.example import Batch
from plmlab.models.cogltx import CogLTX, CogLTXBatch, judge_example, reasoner_example
from plmlab.models.memory_recall import BlockSpan, MemoryBlock, Window, consecutive_windows
from plmlab.visibility import AttentionMask
from plmlab.weights import device_of

LOWEST, HIGHEST = -1, 2
"""Range of the relevance levels that interventions change; a block is relevant from level 1."""
ANSWER = 3
"""Level of a block with the answer, which does not change."""


class Samples(NamedTuple):
    """How many windows of each kind a text gives per epoch.

    For the judge: ``consecutive`` blocks; relevant blocks ``mixed`` with random ones, or, in ``hard`` windows, with
    those that the judge scored highest so far. For the reasoner: relevant blocks with ``promising`` ones, which the
    judge scored highest, or with ``random`` ones. The authors use one of each kind, but no hard window.
    """

    consecutive: int = 1
    mixed: int = 1
    hard: int = 0
    promising: int = 1
    random: int = 1


AUTHORS = Samples()


@dataclass
class LongText:
    """A question and the blocks of its text, for training.

    ``query`` is [CLS] … [SEP]. ``levels`` holds the relevance level of each block, ``estimates`` its most recent score
    by the judge; both lists are copied.
    """

    query: tuple[int, ...]
    blocks: tuple[MemoryBlock, ...]
    answer: BlockSpan
    levels: list[int]
    estimates: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.levels, self.estimates = [*self.levels], [*self.estimates] or [0.0] * len(self.blocks)
        self.levels[self.answer.position] = ANSWER

    @property
    def relevant(self) -> frozenset[int]:
        """The positions of the relevant blocks."""
        return frozenset(position for position, level in enumerate(self.levels) if level >= 1)

    def window(self, chosen: Iterable[int], capacity: int) -> Window:
        """The query followed by the chosen blocks, as many of them as fit, in the order of the text; the block with the
        answer is not treated specially."""
        room, fitting = capacity - len(self.query), []
        for position in dict.fromkeys(chosen):
            if len(self.blocks[position]) <= room:
                room -= len(self.blocks[position])
                fitting.append(self.blocks[position])
        return Window(self.query).with_blocks(fitting)

    def judge_windows(self, capacity: int, rng: Random, samples: Samples = AUTHORS) -> list[Window]:
        """The judge's windows (see `Samples`)."""
        groups = consecutive_windows(self.blocks, capacity - len(self.query))
        others = *[False] * samples.mixed, *[True] * samples.hard
        return [*(Window(self.query, choice(rng, groups)) for _ in range(samples.consecutive)),
                *(self._among(scored, (), capacity, rng) for scored in others)]

    def reasoner_windows(self, capacity: int, rng: Random, samples: Samples = AUTHORS) -> list[Window]:
        """The reasoner's windows (see `Samples`), all with the block that contains the answer."""
        return [self._among(scored, (self.answer.position,), capacity, rng)
                for scored in (*[True] * samples.promising, *[False] * samples.random)]

    def _among(self, scored: bool, first: tuple[int, ...], capacity: int, rng: Random) -> Window:
        """The blocks ``first``, then the relevant ones, among those that the judge scored highest, or random ones."""
        needed, others = shuffled(rng, sorted(self.relevant)), shuffled(rng, range(len(self.blocks)))
        if scored:
            others.sort(key=lambda position: -self.estimates[position])
        return self.window([*first, *needed, *others], capacity)


@torch.no_grad()
def interventions(model: CogLTX, window: Window, answer: BlockSpan) -> dict[int, float]:
    """By how much the reasoner's loss, in nats, rises when a block cannot be attended to: position → difference, for
    every block but that of the answer. The masked-out tokens keep their positions; each attends to itself."""
    spans = {position: span for position, span in window.span_of.items() if position != answer.position}
    example = reasoner_example(window, *answer)
    visible = torch.ones(len(spans) + 1, len(window), len(window), dtype=torch.bool)  # [1 + block, query, key]
    for row, span in zip(visible[1:], spans.values(), strict=True):
        row[:, slice(*span)] = False
        row.fill_diagonal_(True)  # a token without any visible key would count as padding
    batch = replace(Batch.of([example] * len(visible), pad=0), visible=AttentionMask(pairs=visible))
    logits, labels = model.reasoner(batch.to(device_of(model))), example.labels
    losses = -sum(logits[..., column].log_softmax(1)[:, labels[end]] for column, end in enumerate(("start", "end"))) / 2
    return dict(zip(spans, (losses[1:] - losses[0]).tolist(), strict=True))


def changed_level(level: int, difference: float, up: float = 0.2, down: float = -0.05) -> int:
    """The relevance level of a block after an intervention: one more if the loss rose by at least ``up``, one less if
    it fell by at least −``down``, within `LOWEST` and `HIGHEST`; `ANSWER` does not change."""
    if difference >= up and level < HIGHEST:
        return level + 1
    return level - 1 if difference <= down and LOWEST < level <= HIGHEST else level


def texts_of_update(texts: Sequence[LongText], step: int, size: int, seed: int) -> tuple[int, list[LongText]]:
    """The epoch of an update, counted from 0, and its ``size`` texts; each epoch has a random order of its own."""
    epoch, number = divmod(step, len(texts) // size)
    order = shuffled(Random(f"{seed}:{epoch}"), range(len(texts)))
    return epoch, [texts[index] for index in order[number * size:(number + 1) * size]]


class TrainingWindows:
    """Batches of CogLTX: ``size`` texts per update, in random order, each text at most once per epoch; the
    last texts of an epoch are left out if they are fewer.

    From epoch ``interventions_from`` on (counted from 0; None: never) the relevance levels of the texts change by
    interventions on the current reasoner. The texts are changed in place. Batches must be requested in order. Raises
    ValueError if there are fewer than ``size`` texts.
    """

    def __init__(self, model: CogLTX, texts: Sequence[LongText], *, size: int = 4, seed: int = 0,
                 samples: Samples = AUTHORS, interventions_from: int | None = None) -> None:
        if len(texts) < size:
            raise ValueError(f"{len(texts)} texts were given, but an update needs {size}; give more texts or a smaller "
                             "size")
        self.model, self.texts, self.size, self.seed, self.samples = model, texts, size, seed, samples
        self.interventions_from = interventions_from

    def __call__(self, step: int) -> CogLTXBatch:
        """The windows of this update, and the judge's estimates and the interventions of its texts."""
        epoch, texts = texts_of_update(self.texts, step, self.size, self.seed)
        rng, capacity = Random(f"{self.seed}:{step}:windows"), self.model.config.capacity
        judging = [(window, text) for text in texts for window in text.judge_windows(capacity, rng, self.samples)]
        for (window, text), scores in zip(judging, self.model.scores([window for window, _ in judging]), strict=True):
            for block, score in zip(window.blocks, scores, strict=True):
                text.estimates[block.position] = score
        reasoning = [(window, text) for text in texts for window in text.reasoner_windows(capacity, rng, self.samples)]
        batch = CogLTXBatch(Batch.of([judge_example(window, text.relevant) for window, text in judging], pad=0),
                            Batch.of([reasoner_example(window, *text.answer) for window, text in reasoning], pad=0))
        if self.interventions_from is not None and epoch >= self.interventions_from:
            for window, text in reasoning:
                for position, difference in interventions(self.model, window, text.answer).items():
                    text.levels[position] = changed_level(text.levels[position], difference)
        return batch
