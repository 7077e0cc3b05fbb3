"""CogLTX (Ding et al. 2020): a BERT that answers questions about texts longer than its input. A **judge** scores blocks
of the text; MemRecall (`plmlab.models.memory_recall`) selects the most relevant ones with it; a **reasoner** reads the
selected blocks, in order, and predicts the answer.

Differences from the paper: query and text have different segments (their RoBERTa has one segment). The answer is a span
within one block; in the authors' code it may begin in one block and end in another. Judge and reasoner are trained at
the same learning rate, and with their losses added, which equals separate training except for the clipping of
gradients.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from plmlab.example import IGNORE, Batch, Example
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.memory_recall import (
    BlockSpan,
    Grouping,
    Judge,
    MemoryBlock,
    Round,
    Window,
    consecutive_windows,
    pinned,
    recall,
)
from plmlab.models.registry import ModelSpec, model
from plmlab.models.task_heads import SpanClassifier, TaskHead, TaskHeadConfig, best_span
from plmlab.objectives.fine_tuning import label_of
from plmlab.visibility import Visibility
from plmlab.weights import device_of

ANSWER_TOKENS = 10
"""Maximum length of an answer in tokens."""


@dataclass(frozen=True)
class CogLTXConfig:
    """Configuration of CogLTX.

    ``encoder`` is the encoder of judge and reasoner, which do not share weights; ``capacity`` is the maximum number of
    tokens in their input, ``longest`` that of a block without its [SEP]. ``keep`` is MemRecall's: how many more blocks
    each round keeps.
    """

    encoder: ModelSpec
    capacity: int = 512
    longest: int = 63
    keep: tuple[int | None, ...] = (3, None)

    @classmethod
    def of(cls, encoder: ModelSpec) -> Self:
        """The configuration that uses all positions of an encoder, with eight of the longest blocks in its input, as in
        the paper."""
        return cls(encoder, encoder.config.time, encoder.config.time // 8 - 1)

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """A CogLTX with tiny BERTs."""
        return cls.of(ModelSpec(BERT, BERTConfig.tiny(vocab, time)))


@dataclass(frozen=True)
class BlockJudgeConfig(TaskHeadConfig):
    """Configuration of the judge: that of the encoder, with one output label."""

    labels: int = 1


@model("block-judge", BlockJudgeConfig)
class BlockJudge(TaskHead):
    """CogLTX's judge: the relevance of each block, σ(w·h + b), averaged over the tokens of the block."""

    def __init__(self, config: Any) -> None:
        if config.labels != 1:
            raise ValueError(f"labels={config.labels}: the judge has one output per token, so labels must be 1")
        super().__init__(config)

    @classmethod
    def from_pretrained(cls, encoder: nn.Module, labels: int = 1) -> Self:
        """Build a judge from a copy of a pretrained encoder, with a new output layer."""
        return super().from_pretrained(encoder, labels)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time"]:
        """Relevance logit of every position."""
        return self.output(self.dropout(self.encoder(batch)))[..., 0]

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean binary cross-entropy over all positions, in nats; label ``relevance``, one per position: 1 for the query
        and for every token of a relevant block, otherwise 0."""
        label = label_of(batch, "relevance", "models.cogltx.judge_example")
        real = label != IGNORE
        logits = self(batch)[real]
        return F.binary_cross_entropy_with_logits(logits, label[real].to(logits.dtype))


@dataclass(frozen=True)
class CogLTXBatch:
    """Batches of the judge and of the reasoner, which are trained in the same update."""

    judging: Batch
    reasoning: Batch

    @property
    def targets(self) -> Int[Tensor, "batch time"]:
        """All IGNORE: no token is predicted."""
        return self.judging.targets

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        return type(self)(self.judging.to(device), self.reasoning.to(device))


@model("cogltx", CogLTXConfig, ENCODER)
class CogLTX(nn.Module):
    """CogLTX: judge and reasoner, two encoders of the same size."""

    def __init__(self, config: CogLTXConfig) -> None:
        super().__init__()
        self.config = config
        self.judge = BlockJudge(BlockJudgeConfig(config.encoder))
        self.reasoner = SpanClassifier(TaskHeadConfig(config.encoder))

    @classmethod
    def from_pretrained(cls, encoder: nn.Module) -> Self:
        """Build a CogLTX whose judge and reasoner are initialized with the weights of a pretrained encoder."""
        made = cls(CogLTXConfig.of(ModelSpec.of(encoder)))
        made.judge = BlockJudge.from_pretrained(encoder)
        made.reasoner = SpanClassifier.from_pretrained(encoder)
        return made.train(encoder.training)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time 2"]:
        """The reasoner's start and end logits at every position of [CLS] query [SEP] block [SEP] block [SEP] …"""
        return self.reasoner(batch)

    def loss(self, batch: CogLTXBatch) -> Float[Tensor, ""]:
        """The judge's loss plus the reasoner's, in nats."""
        return self.judge.loss(batch.judging) + self.reasoner.loss(batch.reasoning)

    @torch.no_grad()
    def scores(self, windows: Sequence[Window], /) -> list[list[float]]:
        """The judge's score of each block in each window (a `Judge`)."""
        found: list[list[float]] = []
        for batch, some in batches_of(windows, device_of(self)):
            outputs = self.judge(batch).sigmoid()
            found += [[float(row[slice(*span)].mean()) for span in window.spans]
                      for row, window in zip(outputs, some, strict=True)]
        return found

    def recall(self, query: Sequence[int], blocks: Sequence[MemoryBlock], *, judge: Judge | None = None,
               grouping: Grouping = consecutive_windows, keep: Sequence[int | None] | None = None,
               held: Collection[int] = ()) -> tuple[Round, ...]:
        """MemRecall with the model's own judge, capacity and ``keep`` (`plmlab.models.memory_recall.recall`)."""
        return recall(query, blocks, judge or self.scores, grouping=grouping, capacity=self.config.capacity, held=held,
                      keep=self.config.keep if keep is None else keep)

    def answer(self, window: Window) -> BlockSpan:
        """The reasoner's `answer_in` a window."""
        return answer_in(self.reasoner, window)

    def read(self, query: Sequence[int], blocks: Mapping[int, Sequence[int]], held: Collection[int] = (),
             ) -> tuple[tuple[Round, ...], BlockSpan]:
        """The rounds of MemRecall and the `answer`. ``blocks`` has the token ids of each block, with [SEP], by its
        position; those at the positions ``held`` stay in the memory. ``rehearsal`` of each round has the judge's own
        scores, also for held blocks."""
        made = [MemoryBlock(position, (*blocks[position],)) for position in sorted(blocks)]
        rounds = self.recall(query, made, judge=pinned(self.scores, held), held=held)
        rows = self.scores([one.rehearsed for one in rounds])
        found = tuple(replace(one, rehearsal=dict(zip(one.rehearsed.positions, row, strict=True)))
                      for one, row in zip(rounds, rows, strict=True))
        return found, self.answer(found[-1].kept)


@torch.no_grad()
def answer_in(reader: SpanClassifier, window: Window) -> BlockSpan:
    """The most likely answer, a span of at most `ANSWER_TOKENS` tokens in one of the window's blocks, [SEP] excluded,
    with the highest sum of start and end logits. Raises ValueError if the window has no block."""
    if not window.blocks:
        raise ValueError("the memory holds no block; hold at least one block to read an answer from")
    (batch, _), = batches_of([window], device_of(reader))
    logits = reader(batch)[0]  # [time 2]
    words = pad_sequence([logits[start:end - 1] for start, end in window.spans], batch_first=True,
                         padding_value=-torch.inf)  # [block time 2]
    best = best_span(words, words[..., 0] > -torch.inf, ANSWER_TOKENS)  # [block 2]
    number = int(words.gather(1, best[:, None]).sum((1, 2)).argmax())
    start, end = best[number].tolist()
    return BlockSpan(window.blocks[number].position, start, end + 1)


def batches_of(windows: Sequence[Window], device: torch.device, size: int = 32,
               ) -> Iterator[tuple[Batch, Sequence[Window]]]:
    """The windows in batches of at most ``size`` on a device, with the windows of each."""
    for start in range(0, len(windows), size):
        part = windows[start:start + size]
        yield Batch.of([window_example(window) for window in part], pad=0).to(device), part


def window_example(window: Window) -> Example:
    """The input of judge and reasoner: [CLS] query [SEP] as segment 0, and blocks, each with [SEP], as segment 1."""
    tokens = torch.tensor(window.ids)
    segments = torch.ones_like(tokens)
    segments[:len(window.query)] = 0
    return Example(tokens, torch.arange(len(tokens))[None], segments, Visibility.full(len(tokens)),
                   torch.full_like(tokens, IGNORE))


def judge_example(window: Window, relevant: Collection[int]) -> Example:
    """The judge's training example: label ``relevance``, 1 at the query and at every block whose position is in
    ``relevant``, otherwise 0."""
    example = window_example(window)
    label = torch.zeros_like(example.tokens)
    label[:len(window.query)] = 1
    for position, span in window.span_of.items():
        label[slice(*span)] = int(position in relevant)
    return replace(example, labels={"relevance": label})


def reasoner_example(window: Window, position: int, start: int, end: int) -> Example:
    """The reasoner's training example: labels ``start`` and ``end``, where the answer is the tokens ``start`` to
    ``end`` (exclusive) of the block at ``position``. Raises ValueError if the window lacks that block."""
    spans = window.span_of
    if position not in spans:
        raise ValueError(f"the window has no block {position}; the block with the answer must be in it")
    first, _ = spans[position]
    labels = {"start": torch.tensor(first + start), "end": torch.tensor(first + end - 1)}
    return replace(window_example(window), labels=labels)
