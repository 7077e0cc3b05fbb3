"""Sentence-order prediction: consecutive segments, half of them swapped, against a text written out by hand."""

from collections import Counter
from random import Random

import pytest
import torch
from standin import SENTENCES, words

from plmlab.example import IGNORE
from plmlab.labs import MaskLab
from plmlab.objectives import always_mask, masked, sentence_order
from plmlab.objectives.sentence_order import IN_ORDER, SWAPPED
from plmlab.text import Text
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(1000)
CLS, SEP, MASK = 2, 3, 4
STORY = Text([101, 102, 103, 201, 202, 301], sentences=[(0, 3), (3, 5), (5, 6)])


@pytest.mark.parametrize(("split", "swapped", "tokens", "segments"), [
    (1, False, [CLS, 101, 102, 103, SEP, 201, 202, 301, SEP], [0] * 5 + [1] * 4),
    (1, True, [CLS, 201, 202, 301, SEP, 101, 102, 103, SEP], [0] * 5 + [1] * 4),
    (2, False, [CLS, 101, 102, 103, 201, 202, SEP, 301, SEP], [0] * 7 + [1] * 2),
    (2, True, [CLS, 301, SEP, 101, 102, 103, 201, 202, SEP], [0] * 3 + [1] * 6),
])
def test_by_hand(split: int, swapped: bool, tokens: list[int], segments: list[int]) -> None:
    example = sentence_order(STORY, vocab=VOCAB, rng=Random(0), split=split, swapped=swapped, select=())
    assert example.tokens.tolist() == tokens and example.segments.tolist() == segments
    assert example.position_ids.tolist() == [list(range(9))] and (example.targets == IGNORE).all()
    assert example.labels["sentence_order"] == (SWAPPED if swapped else IN_ORDER) == int(swapped)
    assert bool(example.visible.dense().all())
    cut = STORY.sentences[split][0]
    pair = sentence_order(STORY[:cut], STORY[cut:], vocab=VOCAB, rng=Random(0), swapped=swapped, select=())
    assert torch.equal(pair.tokens, example.tokens) and pair.labels == example.labels


def test_positions_are_selected_after_the_swap() -> None:
    example = sentence_order(STORY, vocab=VOCAB, rng=Random(0), split=2, swapped=True, select=[1, 3],
                             corrupt=always_mask)
    assert example.tokens.tolist() == [CLS, MASK, SEP, MASK, 102, 103, 201, 202, SEP]
    assert example.targets.tolist() == [IGNORE, 301, IGNORE, 101, *[IGNORE] * 5]


def test_half_are_swapped_and_every_split_is_as_frequent() -> None:
    rng, runs = Random(1), 1000
    found = Counter[tuple[int, int]]()
    for _ in range(runs):
        example = sentence_order(STORY, vocab=VOCAB, rng=rng, select=())
        first, second = ([t for t, s in zip(example.tokens.tolist(), example.segments.tolist(), strict=True)
                          if s == part and t > 10] for part in (0, 1))
        order = int(example.labels["sentence_order"])
        assert ([*second, *first] if order == SWAPPED else [*first, *second]) == list(STORY)
        found[order, len(second if order else first)] += 1
    assert set(found) == {(order, size) for order in (0, 1) for size in (3, 5)}
    for count in found.values():  # four standard errors of a binomial of 1/4
        assert count / runs == pytest.approx(1 / 4, abs=4 * (3 / 16 / runs) ** 0.5)


def test_the_draws_are_split_order_and_those_of_masked() -> None:
    for seed in range(20):
        rng = Random(seed)
        split, swapped = 1 + int(rng.random() * 2), rng.random() < 0.5
        cut = STORY.sentences[split][0]
        parts = [STORY[:cut], STORY[cut:]][::-1 if swapped else 1]
        expected = masked(parts[0], pair=parts[1], vocab=VOCAB, rng=rng, rate=0.3)
        for _ in range(2):
            example = sentence_order(STORY, vocab=VOCAB, rng=Random(seed), rate=0.3)
            assert torch.equal(example.tokens, expected.tokens) and torch.equal(example.targets, expected.targets)


def test_a_segment_of_another_document_has_no_order() -> None:
    for seed in range(8):
        example = sentence_order([101, 102], [201], False, vocab=VOCAB, rng=Random(seed))
        assert example.labels["sentence_order"] == IGNORE
        assert sentence_order([101, 102], [201], True, vocab=VOCAB, rng=Random(seed)).labels["sentence_order"] in (0, 1)


def test_what_is_no_text_of_two_sentences() -> None:
    for text in (Text([101], sentences=[(0, 1)]), Text(sentences=())):
        with pytest.raises(ValueError, match=rf"at least two sentences, but this one has {len(text)}"):
            sentence_order(text, vocab=VOCAB, rng=Random(0))
    with pytest.raises(ValueError, match=r"needs the sentences of a text.*Tokenizer\.text"):
        sentence_order([101, 102], vocab=VOCAB, rng=Random(0))
    for split in (0, 3, -1):
        with pytest.raises(ValueError, match=rf"split={split} leaves one segment empty: the text has 3 sentences"):
            sentence_order(STORY, vocab=VOCAB, rng=Random(0), split=split)
    with pytest.raises(ValueError, match="two segments are given"):
        sentence_order(STORY, [101], vocab=VOCAB, rng=Random(0), split=1)
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        sentence_order(STORY, vocab=VOCAB, rng=Random(0), rate=0)


def test_the_mask_lab_splits_a_typed_text() -> None:
    lab = MaskLab(words(), f"{SENTENCES[12]} {SENTENCES[6]} .", "sentence_order", choices={"rate": 0.6})
    seen = set[str]()
    for draw in range(20):
        lab.draws = draw
        assert lab.message == "" and lab.state["tokens"].count("[SEP]") == 2 and lab.state["segments"][-1] == 1
        order = lab.example.labels["sentence_order"]
        assert order in (0, 1)
        seen |= set(lab.state["marks"]) if order == SWAPPED else set()
    assert {"mask", "changed", "kept"} <= seen, "a swapped text shows which tokens were replaced, too"
    lab.text = "the cat"
    assert "at least two sentences" in lab.message and lab.stale


