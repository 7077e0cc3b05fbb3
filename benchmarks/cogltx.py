"""CogLTX compared with full attention over the whole text, by the length of the text.

``python benchmarks/cogltx.py [rounds]``, on the CPU with two threads. One question about a document of 500 to 16,000
tokens: ``cogltx-world`` (MemRecall and reasoner), the same with one block per window, and a BERT of the same size with
32,768 positions, whose weights do not affect its speed. Then one update of the judge compared with that of
transformers' ``BertForTokenClassification`` with the same weights.
"""

import sys
from collections.abc import Callable
from itertools import islice
from typing import Any

import torch
from rounds import race, table
from torch import Tensor
from torch.nn import functional as F

from plmlab import world
from plmlab.chapters.ch15.answering import outcome
from plmlab.chapters.ch15.cost import attention_scores, inputs
from plmlab.chapters.ch15.long_texts import block_spans, labelled, memory_blocks, query_of
from plmlab.chapters.ch15.selections import single_scores
from plmlab.chapters.ch15.window_reader import with_more_positions
from plmlab.checkpoints import load
from plmlab.example import IGNORE, Batch
from plmlab.hf import to_hf
from plmlab.models.cogltx import CogLTX, judge_example, window_example
from plmlab.models.memory_recall import MemoryBlock, Window
from plmlab.tables import show_table
from plmlab.timing import fastest_in_turn
from plmlab.world.datasets.long_documents import LongDocument, long_documents

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
        blocks = memory_blocks(document, block_spans(document, model.config.longest))
        windows = inputs(model.recall(query_of(document), blocks))
        works: dict[str, Callable[[], Any]] = {
            "CogLTX": lambda document=document: outcome(model, document),
            "one block per window": lambda document=document: outcome(model, document, single_scores),
            "full attention": lambda blocks=blocks, document=document: read_whole(full, query_of(document), blocks)}
        seconds = fastest_in_turn(works, rounds)
        scores = attention_scores(map(len, windows)), attention_scores([len(Window(query_of(document), blocks))])
        rows[f"{length:,}"] = (len(windows), *(f"{value:.2f}" for value in seconds.values()),
                               f"{seconds['full attention'] / seconds['CogLTX']:.1f}",
                               *(f"{one / 1e6:.1f}" for one in scores))
    show_table(("tokens", "inputs", "CogLTX, s", "one block per window, s", "full attention, s", "full / CogLTX",
                "CogLTX, million scores", "full attention, million scores"), rows)


def read_whole(reader: Any, query: tuple[int, ...], blocks: tuple[MemoryBlock, ...]) -> None:
    """A forward pass over the question and all blocks."""
    batch = Batch.of([window_example(Window(query, blocks))], pad=0)
    with torch.no_grad():
        reader(batch)


def update(model: CogLTX, rounds: int) -> None:
    """Print the table of an update of the judge, after checking that both implementations have the same loss."""
    from random import Random

    from transformers import BertForTokenClassification

    texts = [labelled(one, model.config.longest) for one in islice(long_documents(world.full(), "train"), 8)]
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
