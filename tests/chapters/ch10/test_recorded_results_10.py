"""Rows and lines of recorded results: their numbers are those of the record, under the correct names."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from plmlab.chapters.ch10 import recall_task, recorded_results
from plmlab.chapters.ch10.shared_weights import share_weights
from plmlab.chapters.ch10.variants import (
    TransformerXLWithGradient,
    averaged_over_memory,
    gradient_of_first_segment,
)
from plmlab.checkpoints import load
from plmlab.example import Batch
from plmlab.interpret import watch
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.recipes import recorded
from plmlab.visibility import AttentionMask

NUMBERS = recorded("10")["numbers"]


def number(cell: str) -> float:
    return float(cell.split()[0])


def test_columns_are_the_bins() -> None:
    assert recorded_results.DISTANCES == ("1–16", "17–32", "33–48", "49–64", "65–80", "81–96", "97–112", "113–128")
    plain = {str(largest): largest / 1000 for largest in range(16, 129, 16)}
    assert recorded_results.accuracy_cells(plain) == ["2", "3", "5", "6", "8", "10", "11", "13"]


def test_variants_and_rules_have_the_contexts_of_their_names() -> None:
    """A rule knows what its context contains: 80 positions, a segment, chunks of 80, and 80 that slide."""
    variants, rules = recorded_results.context_variants(NUMBERS), recorded_results.rule_rows(NUMBERS)
    assert list(rules) == [f"rule, context: {name}" for name in variants]
    memory, none, chunks, sliding = ([number(cell) for cell in row] for row in rules.values())
    assert max(none[1:]) < 15 and memory[3] > 95 and sliding[3] > 95 and 40 < chunks[3] < 70
    assert memory[4] < 65 < sliding[4] and max(memory[5], sliding[5]) < 15
    for right, bound in zip(variants.values(), (memory, none, chunks, sliding), strict=True):
        assert all(number(cell) <= most + 4 for cell, most in zip(
            recorded_results.accuracy_cells(right)[:4], bound[:4], strict=True))


def test_lines_are_the_means_with_the_range_of_the_seeds() -> None:
    variants = recorded_results.context_variants(NUMBERS)
    figure = recorded_results.accuracy_plot("A title", variants)
    drawn = {line.name: line.y for line in figure.data if line.name}
    assert list(drawn) == list(variants) and figure.layout.title.text == "A title"
    for name, right in variants.items():
        assert drawn[name] == pytest.approx([100 * right[largest]["mean"] for largest in recorded_results.BINS])
    bands = [line.y for line in figure.data if not line.name]
    first = variants["with a memory of 64"]
    assert bands[0][:8] == pytest.approx([100 * first[largest]["high"] for largest in reversed(recorded_results.BINS)]
                                         if bands[0][0] < bands[0][7] else
                                         [100 * first[largest]["high"] for largest in recorded_results.BINS])


def test_rows_are_those_of_the_record() -> None:
    rows = recorded_results.position_rows(NUMBERS)
    runs = NUMBERS["longer"]["arms"]
    restarting, continued = (runs[name]["in order"] for name in ("absolute", "continued"))
    assert number(rows["with a memory: absolute, restarting (rate 0.005)"][2]) == round(restarting["all"]["mean"], 2)
    assert number(rows["with a memory: absolute, continuing (rate 0.005)"][1]) == round(
        continued["answers"]["mean"], 2)
    near = recall_task.near_accuracy(runs["window"]["windows"]["right"])["mean"]
    assert number(rows["sliding window of 80: relative"][0]) == round(100 * near)
    for name, arm in (("absolute, restarting", "absolute"), ("absolute, continuing", "continued")):
        losses = [f"{-loss:.2f}" for _, loss in NUMBERS["positions"]["rates"][arm]]
        assert [cell for cell in recorded_results.rate_rows(NUMBERS)[name] if cell != "–"] == losses
    lengths = recorded_results.context_length_rows(NUMBERS)
    assert [row[0] for row in lengths.values()] == [80, 144, 16, 80, 80]
    wiki = recorded_results.wikipedia_rows(NUMBERS)
    assert number(wiki["unigram model"][0]) > number(wiki["bigram model"][0]) > number(wiki["trigram model"][0])
    assert number(wiki["memory of 96"][0]) < number(wiki["memory of 96, emptied before each segment at test time"][0])
    assert number(recorded_results.story_rows(NUMBERS)["word-overlap baseline"][0]) == round(
        100 * NUMBERS["stories"]["word overlap"])
    halves = recorded_results.long_text_rows(NUMBERS)["relative (1,200 updates)"]
    told = NUMBERS["distances"]["other modes"]["memory"]["halves"]
    assert [number(cell) for cell in halves[2:]] == [round(told[half]["all"]["mean"], 2) for half in told]


def test_weights_are_shared_and_gradients_are_not() -> None:
    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q = nn.Linear(8, 8, bias=False)
            self.u, self.w = nn.Parameter(torch.zeros(2, 1, 4)), nn.Parameter(torch.zeros(2, 1, 4))

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention, self.norm1, self.up = Attention(), nn.LayerNorm(8), nn.Linear(8, 32)

    reference = TransformerXL(TransformerXLConfig(9, 2, 2, 1, 8, 2, 32))
    layers = nn.ModuleList([Layer()])
    pairs = share_weights(layers, reference)
    assert len(pairs) == 7 and all(torch.equal(mine.flatten(), other.flatten()) for mine, other in pairs)
    assert torch.equal(layers[0].attention.w[:, 0], reference.layers[0].attention.position_bias)
    assert torch.equal(layers[0].norm1.weight, reference.layers[0].attention_residual.norm.weight)
    layers[0].up.weight.sum().backward()
    assert reference.layers[0].feed_forward.up.weight.grad is None


def test_a_term_is_averaged_over_the_memory_alone() -> None:
    term = torch.arange(10.0).view(1, 1, 2, 5)
    assert averaged_over_memory(term).flatten().tolist() == [1, 1, 1, 3, 4, 6, 6, 6, 8, 9]
    assert torch.equal(averaged_over_memory(term[..., :2]), term[..., :2])


def test_a_gradient_reaches_the_first_segment_without_the_stop() -> None:
    assert gradient_of_first_segment(TransformerXL) == 0 < gradient_of_first_segment(TransformerXLWithGradient)


def test_the_fact_reaches_the_answer_through_the_verb_of_the_question() -> None:
    """Section 4: the verb attends to the object in layer 0, the last position to the verb in layer 1, and to the object
    in neither; the largest weight of any head, in the lab's first text."""
    model, tokenizer = load("transformer-xl-world")
    words = recall_task.texts("test_set")[9].words[:88]
    assert words[-5:] == ("Victor", "peel", "?", "the", "peach")
    fact, verb, last = words.index(words[-1]), len(words) - 4, len(words) - 2
    mask = AttentionMask(pairs=model.visibility(len(words)).dense()[None])
    batch = Batch.continuing(torch.tensor([tokenizer.encode(" ".join(words))]), 0)
    with torch.no_grad(), watch(model, "layers.*.attention.weights") as seen:
        model.hidden_states(replace(batch, visible=mask))

    def largest(layer: int, query: int, key: int) -> float:
        return float(seen[f"layers.{layer}.attention.weights"][0, :, query, key].max())
    assert largest(0, verb, fact) > 0.9 and largest(1, last, verb) > 0.9
    assert max(largest(0, last, fact), largest(1, last, fact)) < 0.1
