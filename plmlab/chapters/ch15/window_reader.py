"""Baselines of CogLTX that read the text itself: a BERT on windows of consecutive tokens, whose answers are combined by
voting, and a BERT with full attention over the whole text.

A window without the answer has the null answer, [CLS] to [CLS], as in BERT on SQuAD 2.0 (Devlin et al. 2019, §4.3).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch15.baselines import said
from plmlab.chapters.ch15.long_texts import SEP, query_of
from plmlab.draws import choice, randint, shuffled
from plmlab.example import Batch, Example
from plmlab.models.bert import BERT
from plmlab.models.cogltx import reasoner_example, window_example
from plmlab.models.memory_recall import MemoryBlock, Window
from plmlab.models.task_heads import SpanClassifier, best_span
from plmlab.weights import device_of
from plmlab.world.datasets.long_documents import LongDocument, Span

LONGEST = 10
"""Maximum length of an answer in tokens."""


def reading_window(document: LongDocument, span: Span) -> Window:
    """[CLS] question [SEP] the tokens of the span [SEP]."""
    return Window(query_of(document), (MemoryBlock(0, (*said(document, span), SEP)),))


def sliding_windows(document: LongDocument, time: int) -> list[Span]:
    """Spans of equal length that cover the document, each overlapping half of the one before, so that the question and
    a span fit into ``time`` positions."""
    room = min(time - len(query_of(document)) - 1, len(document.tokens))
    begins = [*range(0, len(document.tokens) - room, room // 2), len(document.tokens) - room]
    return [(begin, begin + room) for begin in begins]


def labelled_window(document: LongDocument, span: Span) -> Example:
    """The training example of a window: the answer if it is in the window, otherwise the null answer."""
    window, (start, end) = reading_window(document, span), document.answer
    if span[0] <= start and end <= span[1]:
        return reasoner_example(window, 0, start - span[0], end - span[0])
    return replace(window_example(window), labels={"start": torch.tensor(0), "end": torch.tensor(0)})


def window_batches(documents: Sequence[LongDocument], time: int, size: int, seed: int) -> Callable[[int], Batch]:
    """Batches of ``size`` documents with two windows each, one that contains the answer and any other; all documents
    once per epoch."""
    per_epoch = len(documents) // size

    def batch(step: int) -> Batch:
        epoch, number = divmod(step, per_epoch)
        order = shuffled(Random(f"{seed}:{epoch}"), range(len(documents)))[number * size:(number + 1) * size]
        rng, examples = Random(f"{seed}:{step}:windows"), []
        for document in (documents[index] for index in order):
            spans = sliding_windows(document, time)
            room, (start, end) = spans[0][1] - spans[0][0], document.answer
            low, high = max(0, end - room), min(start, len(document.tokens) - room)
            begin = low + randint(rng, high - low + 1)
            examples += [labelled_window(document, one) for one in ((begin, begin + room), choice(rng, spans))]
        return Batch.of(examples, pad=0)
    return batch


@torch.no_grad()
def read(reader: SpanClassifier, document: LongDocument, spans: Sequence[Span]) -> list[tuple[tuple[int, ...], float]]:
    """The most likely answer in each span of a document, and its probability p(start) · p(end); the null answer
    competes for this probability."""
    found = []
    for first in range(0, len(spans), 32):
        windows = [reading_window(document, span) for span in spans[first:first + 32]]
        batch = Batch.of([window_example(window) for window in windows], pad=0).to(device_of(reader))
        logits = reader(batch)
        text = (batch.segments == 1) & batch.padding_mask & (batch.tokens != SEP)
        best = best_span(logits, text, LONGEST)
        for window, row, (start, end) in zip(windows, logits.log_softmax(1), best.tolist(), strict=True):
            probability = float((row[start, 0] + row[end, 1]).exp())
            found.append((window.ids[start:end + 1], probability))
    return found


def vote(answers: Sequence[tuple[tuple[int, ...], float]]) -> tuple[int, ...]:
    """The answer with the highest sum of probabilities over all windows."""
    votes: Counter[tuple[int, ...]] = Counter()
    for words, probability in answers:
        votes[words] += probability  # type: ignore[assignment]
    return max(votes, key=votes.__getitem__)


def with_more_positions(reader: SpanClassifier, time: int) -> SpanClassifier:
    """A copy of a reader whose encoder has ``time`` positions; the trained position embeddings are repeated, as in
    Longformer (Beltagy et al. 2020)."""
    config = reader.encoder.config
    weights = reader.encoder.state_dict()
    name, = (name for name in weights if name.endswith("position.weight"))
    longer = BERT(replace(config, time=time)).train(reader.training).to(weights[name])
    weights[name] = _repeated(weights[name], time)
    longer.load_state_dict(weights)
    made = SpanClassifier.from_pretrained(longer)
    made.output.load_state_dict(reader.output.state_dict())
    return made


def _repeated(rows: Float[Tensor, "time model"], time: int) -> Float[Tensor, "longer model"]:
    return rows.repeat(-(-time // len(rows)), 1)[:time]
