"""CogLTX compared with full attention over the whole text, by the length of the text.

``python benchmarks/cogltx.py [rounds]``, on the CPU with two threads. One question about a document of 500 to 16,000
tokens: ``cogltx-world`` (MemRecall and reasoner), the same with one block per window, and a BERT of the same size with
32,768 positions, whose weights do not affect its speed. Then one update of the judge compared with that of
transformers' ``BertForTokenClassification`` with the same weights.
"""

import sys
from collections.abc import Callable
from itertools import islice
from random import Random
from typing import Any

import torch
from rounds import race, table
from torch import Tensor
from torch.nn import functional as F

from plmlab import world
from plmlab.chapters.ch15.answering import outcome
from plmlab.chapters.ch15.long_texts import BlockedDocument
from plmlab.chapters.ch15.selections import single_scores
from plmlab.chapters.ch15.training import labelled_texts
from plmlab.checkpoints import load
from plmlab.example import IGNORE, Batch
from plmlab.hf import to_hf
from plmlab.labs.memory_recall.steps import cost
from plmlab.models.cogltx import CogLTX, judge_example, window_example
from plmlab.models.memory_recall import Window
from plmlab.tables import show_table
from plmlab.timing import fastest_in_turn
from plmlab.world.datasets.long_documents import LongDocument, long_documents
from studies.ch15.whole_texts import with_more_positions

LENGTHS = (500, 1000, 2000, 4000, 8000, 15_900)


def document_of(length: int) -> LongDocument:
    """A document of about this length."""
    return next(long_documents(world.full(), "test", lengths=(length, length + 60)))


def answering(model: CogLTX, rounds: int) -> None:
    """Print the seconds per question and the attention scores by length."""
    full = with_more_positions(model.reasoner, 32_768).eval()
    rows = {}
    for length in LENGTHS:
        document = document_of(length)
        text = BlockedDocument.of(document, model.config.longest)
        whole = Window(text.query, text.blocks)
        counted = cost(model.recall(text.query, text.blocks), len(whole))
        works: dict[str, Callable[[], Any]] = {
            "CogLTX": lambda document=document: outcome(model, document),
            "one block per window": lambda document=document: outcome(model, document, single_scores),
            "full attention": lambda whole=whole: read_whole(full, whole)}
        seconds = fastest_in_turn(works, rounds)
        scores = counted["judge"] + counted["reasoner"], counted["full"]
        rows[f"{length:,}"] = (counted["windows"] + 1, *(f"{value:.2f}" for value in seconds.values()),
                               f"{seconds['full attention'] / seconds['CogLTX']:.1f}",
                               *(f"{one / 1e6:.1f}" for one in scores))
    show_table(("tokens", "inputs", "CogLTX, s", "one block per window, s", "full attention, s", "full / CogLTX",
                "CogLTX, million scores", "full attention, million scores"), rows)


def read_whole(reader: Any, whole: Window) -> None:
    """A forward pass over the question and all blocks."""
    batch = Batch.of([window_example(whole)], pad=0)
    with torch.no_grad():
        reader(batch)


def update(model: CogLTX, rounds: int) -> None:
    """Print the table of an update of the judge, after checking that both implementations have the same loss."""
    from transformers import BertForTokenClassification

    texts = labelled_texts(islice(long_documents(world.full(), "train"), 8), model.config.longest)
    windows = [(window, text) for text in texts for window in text.judge_windows(model.config.capacity, Random(0))]
    batch = Batch.of([judge_example(window, text.relevant) for window, text in windows], pad=0)
    base = to_hf(model.judge.encoder)
    base.config.num_labels = 1
    theirs = BertForTokenClassification(base.config)
    theirs.bert.load_state_dict(base.state_dict(), strict=False)
    theirs.classifier.load_state_dict(model.judge.output.state_dict())
    theirs.train()
    label = batch.labels["relevance"]

    def their_loss() -> Tensor:
        logits = theirs(batch.tokens, batch.padding_mask.long(), batch.segments).logits[..., 0]
        return F.binary_cross_entropy_with_logits(logits[label != IGNORE], label[label != IGNORE].float())

    judge = model.judge.train()
    assert torch.allclose(judge.loss(batch), their_loss(), atol=1e-4)
    seconds = race({"ours": lambda: judge.loss(batch).backward(), "transformers": lambda: their_loss().backward()},
                   rounds=rounds)
    print(f"\nan update of the judge, {batch.size[0]} windows\n\n{table(seconds, int((label != IGNORE).sum()))}")


if __name__ == "__main__":
    torch.set_num_threads(2)
    loaded, _ = load("cogltx-world")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    answering(loaded, count)
    update(loaded, count)
