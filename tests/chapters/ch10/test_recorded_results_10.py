"""Rows and lines of recorded results: their numbers are those of the record, under the correct names."""

from dataclasses import replace

import torch

from plmlab.chapters.ch10 import evaluation_speed, recall_task, recorded_results
from plmlab.chapters.ch10.variants import averaged_over_memory
from plmlab.checkpoints import load
from plmlab.example import Batch
from plmlab.interpret import watch
from plmlab.recipes import recorded
from plmlab.visibility import AttentionMask

NUMBERS = recorded("10")["numbers"]


def number(cell: str) -> float:
    return float(cell.split()[0])


def test_variants_and_rules_have_the_contexts_of_their_names() -> None:
    """A rule knows what its context contains: 80 positions, a segment, chunks of 80, and 80 that slide."""
    variants, rules = recorded_results.context_variants(NUMBERS), recorded_results.rule_rows(NUMBERS)
    assert list(rules) == [f"rule-based baseline: {name}" for name in variants]
    memory, none, chunks, sliding = ([number(cell) for cell in row] for row in rules.values())
    assert max(none[1:]) < 15 and memory[3] > 95 and sliding[3] > 95 and 40 < chunks[3] < 70
    assert memory[4] < 65 < sliding[4] and max(memory[5], sliding[5]) < 15
    for right, bound in zip(variants.values(), (memory, none, chunks, sliding), strict=True):
        assert all(number(cell) <= most + 4 for cell, most in zip(
            recorded_results.accuracy_cells(right)[:4], bound[:4], strict=True))


def test_rows_are_those_of_the_record() -> None:
    rows = recorded_results.position_rows(NUMBERS)
    runs, positions = NUMBERS["longer"]["arms"], NUMBERS["positions"]["arms"]
    for name, run in (("restarting (rate 0.001)", positions["absolute"]),
                      ("continuing (rate 0.003)", positions["continued"]),
                      ("continuing (rate 0.001)", NUMBERS["positions"]["second rate"])):
        cells = rows[f"with a memory: absolute, {name}"][1:]
        assert [number(cell) for cell in cells] == [round(run[loss]["mean"], 2) for loss in ("answers", "all")]
    near = recall_task.near_accuracy(runs["window"]["windows"]["right"])["mean"]
    assert number(rows["sliding window of 80: relative"][0]) == round(100 * near)
    for name, arm in (("absolute, restarting", "absolute"), ("absolute, continuing", "continued")):
        tried = dict(positions[arm]["rates"])
        *cells, untried = recorded_results.rate_rows(NUMBERS, (*tried, 7.0))[name]
        assert cells == [f"{100 * score:.0f}" for score in tried.values()] and untried == "–"
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


def test_a_term_is_averaged_over_the_memory_alone() -> None:
    term = torch.arange(10.0).view(1, 1, 2, 5)
    assert averaged_over_memory(term).flatten().tolist() == [1, 1, 1, 3, 4, 6, 6, 6, 8, 9]
    assert torch.equal(averaged_over_memory(term[..., :2]), term[..., :2])


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


def test_speed_is_measured_per_word() -> None:
    assert min(evaluation_speed.measure(64)) > 0
