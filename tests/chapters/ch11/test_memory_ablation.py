"""The memory of XLNet: what is read behind it is one pass under a mask made by hand, and only it knows the exam."""

from collections.abc import Callable
from dataclasses import replace
from math import log
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from plmlab import world
from plmlab.chapters.ch11 import masked_words
from plmlab.example import IGNORE, Batch
from plmlab.layers.attention import RelativePositions
from plmlab.models.xlnet import XLNet
from plmlab.recipes import Parts
from plmlab.train import Diverged, History
from plmlab.visibility import AttentionMask
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from studies.ch11 import memory_ablation
from studies.ch11.memory_ablation import (
    ARMS,
    MEMORY_LENGTH,
    cloze_as_pair,
    cloze_by_segment,
    collate,
    evaluate,
    ids,
    training_batch,
)
from studies.ch11.segments import SegmentedXLNet, Segments


def made(name: str) -> SegmentedXLNet:
    """In float64, every weight large enough to matter."""
    model = memory_ablation.untrained(name, 3).double().eval()
    for place, weight in model.named_parameters():
        nn.init.normal_(weight, mean=float(place.endswith("norm.weight")), std=0.2)
    return model


def test_all_arms_read_the_same_sentences_twice() -> None:
    memory, alone, pair = (training_batch(name, 7, 2) for name in ARMS)
    first, second = memory.batches
    assert torch.equal(first.tokens, second.tokens) and not torch.equal(first.targets, second.targets)
    assert torch.equal(memory.targets, alone.targets), "and of these two, asked the same"
    words = first.tokens[:, :-2]
    [both] = pair.batches
    assert torch.equal(both.tokens, torch.cat([first.tokens[:, :-1], first.tokens], 1)), "A [SEP] A [SEP] [CLS]"
    assert len(words) == memory_ablation.BATCH and not bool((words == small_world_tokenizer().vocab.need("pad")).any())
    again, other = (training_batch("memory", 7, step).targets for step in (2, 3))
    assert torch.equal(again, memory.targets) and not torch.equal(other, again)
    assert world.small().automaton().longest + 2 == MEMORY_LENGTH


class OnePass(XLNet):
    """Reads two segments side by side. To the second, [CLS] of the first is of segment 0, as all that is remembered."""

    def relative(self, batch: Batch, positions: Tensor, remembered: int) -> RelativePositions:
        told = super().relative(batch, positions, remembered)
        half, same = batch.size[1] // 2, told.same_segment.clone()
        own = batch.segments.gather(1, positions)
        same[:, :, half - 1] = torch.where(positions >= half, own == 0, same[:, :, half - 1])
        return replace(told, same_segment=same)


def in_one_pass(model: SegmentedXLNet, text: Segments, memory: int) -> Tensor:
    """Both segments' vectors, with the mask that segments and a memory of so many positions come to."""
    first, second = text.batches
    half = first.size[1]

    def mask(name: str) -> AttentionMask:
        pairs = torch.zeros(len(text.targets), 2 * half, 2 * half, dtype=torch.bool)
        pairs[:, half:, max(0, half - memory):half] = memory > 0
        for start, batch in zip((0, half), text.batches, strict=True):
            pairs[:, start:start + half, start:start + half] = getattr(batch, name).dense(half, half)[:, 0]
        return AttentionMask(pairs=pairs)

    both = Batch(torch.cat([first.tokens, second.tokens], 1), torch.arange(2 * half)[None, None],
                 torch.cat([first.segments, second.segments], 1), mask("visible"), text.targets,
                 query_stream_mask=mask("query_stream_mask"))
    reader = OnePass(model.config).double().eval()
    reader.load_state_dict(model.encoder.state_dict())
    return reader(both)


@pytest.mark.parametrize("name", ["memory", "no memory"])
@torch.no_grad()
def test_segments_are_one_pass_under_a_mask(name: str) -> None:
    """Of both streams, whatever is asked."""
    model, [example] = made(name), masked_words.examples("single word")[:1]
    words = ids(example.words)
    for text in (training_batch(name, 0, 0), collate([cloze_by_segment(words, words, example.masked[0])])):
        torch.testing.assert_close(model.hidden(text), in_one_pass(model, text, ARMS[name].memory), rtol=0, atol=1e-10)
    half = text.batches[0].size[1]
    with_memory, without = (in_one_pass(model, text, memory)[:, half:] for memory in (MEMORY_LENGTH, 0))
    assert not torch.isclose(with_memory, without).all(-1).any()


@pytest.mark.parametrize("name", ARMS)
def test_no_gradient_flows_into_what_is_remembered(name: str) -> None:
    """Of two different sentences, the second tells words that only the first has nothing; but where both are read at
    once."""
    one, other = [20, 21, 22, 23], [30, 31, 32]
    model = made(name)
    text = collate([ARMS[name].cloze(one, other, 1)])
    model.hidden(text)[:, -len(other) - 2:].pow(2).sum().backward()
    flows = model.encoder.embeddings.token.weight.grad
    assert flows is not None and bool(flows[[30, 32]].any(-1).all())
    assert bool(flows[one].any()) == (name == "one pass")


@pytest.mark.parametrize("ask", [cloze_by_segment, cloze_as_pair])
def test_one_word_of_the_second_is_asked_with_all_others_in_sight(ask: Any) -> None:
    *_, example = ask([20, 21, 22], [30, 31, 32], 1)
    [position] = (example.targets != IGNORE).nonzero().flatten().tolist()
    assert example.targets[position] == 31 and example.tokens[position - 1] == 30
    assert example.query_stream_mask.dense()[position].tolist() == [key != position
                                                                    for key in range(len(example.tokens))]


class Remembering(SegmentedXLNet):
    """Says what stood in the first segment where the second asks."""

    def forward(self, text: Segments) -> Tensor:
        said = torch.cat([text.batches[0].tokens] * 2, 1)
        return 20.0 * nn.functional.one_hot(said, len(small_world_tokenizer())).float()


def test_who_remembers_knows_every_word_and_another_sentence_misleads(monkeypatch: pytest.MonkeyPatch) -> None:
    some = masked_words.examples("single word")[:30]
    monkeypatch.setattr(memory_ablation, "examples", lambda kind: some)
    told = evaluate("memory", Remembering(memory_ablation.untrained("memory", 0).config))
    assert told["accuracy"] == 1 and told["nats"] < 1e-5 and told["nats, other memory"] > 3


def test_who_has_no_memory_is_not_misled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_ablation, "examples", lambda kind: masked_words.examples("single word")[:12])
    told = evaluate("no memory", memory_ablation.untrained("no memory", 0))
    assert told["nats"] == pytest.approx(told["nats, other memory"], abs=1e-6) and abs(told["nats"] - log(200)) < 2


def test_the_recipe_on_the_smallest_of_scales(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, best_at: Callable[[float], Any],
) -> None:
    few = [example for example in masked_words.examples("single word") if len(example.words) == 8][:4]
    for name, value in (("examples", lambda kind: few), ("BUDGETS", (2,)), ("EVAL_BATCHES", 1), ("SEEDS", (0, 1)),
                        ("LAYERS", 1), ("BATCH", 2), ("WIDTH", 8), ("HEADS", 2), ("lr_score", best_at(3e-3))):
        monkeypatch.setattr(memory_ablation, name, value)
    monkeypatch.setattr(masked_words, "examples", lambda kind, source: few)
    told = memory_ablation.measure(parts)
    assert set(told["arms"]) == set(ARMS)
    assert told["floor without memory"] == masked_words.mean_exact("single word").joint
    for arm in told["arms"].values():
        assert arm["lr"] == 3e-3 and set(arm["updates"]) == {"2"}
        assert all(4 < found["nats"]["mean"] < 8 for found in arm["updates"].values())
    model, _ = memory_ablation.train("memory", 2, 3e-3, 1, show=False)
    nats = told["arms"]["memory"]["updates"]["2"]["nats"]["values"][1]
    assert nats == pytest.approx(evaluate("memory", model)["nats"])


def test_a_rate_that_diverges_is_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*_: object, **__: object) -> None:
        raise Diverged("enough", 1, History(1, "cpu", "float32"))
    monkeypatch.setattr(memory_ablation, "train", train)
    assert memory_ablation.lr_score("memory", 1e-2, 8) is None
