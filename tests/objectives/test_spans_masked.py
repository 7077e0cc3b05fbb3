"""SpanBERT's spans: the paper's figure, the distribution of their lengths in closed form, and their boundaries."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, groupby
from math import ceil
from random import Random

import pytest
import torch
from standin import Scripted, annotated, words

from plmlab.example import IGNORE, Example
from plmlab.labs import MaskLab
from plmlab.objectives import always_mask_span, span_80_10_10, spans_masked
from plmlab.objectives.spans_masked import LONGEST, span_lengths
from plmlab.text import Text
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(1000)
CLS, SEP, MASK = 2, 3, 4
TEXT = annotated(range(100, 200))


def text_of(size: int) -> Text:
    """A text with one token per word."""
    return Text(range(100, 100 + size), words=[(i, i + 1) for i in range(size)])


def found(example: Example) -> list[tuple[int, int]]:
    """The spans of targets, in tokens of the text."""
    is_target = (example.targets != IGNORE).tolist()
    runs = [list(run) for chosen, run in groupby(range(len(is_target)), is_target.__getitem__) if chosen]
    return [(run[0] - 1, run[-1]) for run in runs]


def test_the_figure() -> None:
    """Joshi et al. 2020, figure 1: "an American football game" is masked; its boundaries are x4 and x9."""
    line = ["Super", "Bowl", "50", "was", "an", "American", "football", "game", "to", "determine", "the", "champion"]
    example = spans_masked(text_of(len(line)), vocab=VOCAB, rng=Random(0), spans=[(4, 8)], corrupt=always_mask_span)
    assert example.tokens.tolist() == [CLS, *range(100, 104), *[MASK] * 4, *range(108, 112), SEP]
    assert example.targets.tolist() == [*[IGNORE] * 5, 104, 105, 106, 107, *[IGNORE] * 5]
    assert [line[i - 1] for i in (5, 6, 7, 8)] == ["an", "American", "football", "game"]
    boundaries = example.labels["boundaries"]
    assert boundaries.shape == (14, 2) and boundaries[5:9].tolist() == [[4, 9]] * 4  # x4 = was, x9 = to; x0 = [CLS]
    assert (boundaries[[*range(5), *range(9, 14)]] == IGNORE).all()
    assert example.position_ids.tolist() == [list(range(14))] and not example.segments.any()
    assert bool(example.visible.dense().all())


def test_the_lengths_in_closed_form() -> None:
    """Geo(1/5) on 1 … 10, divided by its sum 1 − (4/5)^10, in exact fractions."""
    p = Fraction(1, 5)
    exact = [p * (1 - p) ** (length - 1) / (1 - (1 - p) ** 10) for length in range(1, 11)]
    assert sum(exact) == 1
    assert span_lengths() == pytest.approx([float(q) for q in exact], rel=1e-12)
    mean = sum(length * q for length, q in enumerate(span_lengths(), 1))
    assert mean == pytest.approx(float(1 / p - 10 * (1 - p) ** 10 / (1 - (1 - p) ** 10)), rel=1e-12)
    assert round(mean, 2) == 3.80, "figure 2 of the paper: the mean is about 3.8"
    clipped = sum(min(length, 10) * float(p * (1 - p) ** (length - 1)) for length in range(1, 400))
    assert round(clipped, 2) == 4.46, "clipping gives another distribution"
    assert span_lengths(1.0) == [1, *[0] * 9]


def test_a_draw_becomes_a_length_by_the_cumulative_distribution() -> None:
    """On both sides of every step of the distribution; the span begins at the first token."""
    text, steps = text_of(40), [0.0, *accumulate(span_lengths())]
    for length in range(1, LONGEST + 1):
        for u in (steps[length - 1] + 1e-9, steps[length] - 1e-9):
            example = spans_masked(text, vocab=VOCAB, rng=Scripted(u, 0.0, 0.9999, 20.5 / 40), rate=0.25,
                                   corrupt=always_mask_span)
            assert found(example)[0] == (0, length)


@pytest.mark.parametrize("rate", [0.15, 0.4, 1.0])
def test_the_budget_is_exceeded_by_less_than_one_word(rate: float) -> None:
    for seed in range(30):
        for text in (TEXT, text_of(11), annotated(range(100, 107))):
            example = spans_masked(text, vocab=VOCAB, rng=Random(seed), rate=rate)
            count = sum(end - start for start, end in found(example))
            longest = max(end - start for start, end in text.words)
            assert ceil(rate * len(text)) <= count < ceil(rate * len(text)) + longest


def test_no_word_is_split_and_spans_are_apart() -> None:
    starts, ends = zip(*TEXT.words, strict=True)
    for seed in range(60):
        spans = found(spans_masked(TEXT, vocab=VOCAB, rng=Random(seed), rate=0.3))
        assert all(start in starts and end in ends for start, end in spans)


def test_the_order_of_draws() -> None:
    """A length and a first token; both again for a token that is selected; then one draw per span for 80/10/10."""
    text = text_of(20)  # the budget is 3
    third = span_lengths()[0] + span_lengths()[1] / 2  # of length 2
    rng = Scripted(third, 5.5 / 20, 0.9, 6.5 / 20, third, 10.5 / 20, 0.95, 0.79)
    example = spans_masked(text, vocab=VOCAB, rng=rng)
    assert found(example) == [(5, 7), (10, 11)] and not rng.numbers, "the second span ends with the budget"
    assert example.tokens[[6, 7, 11]].tolist() == [105, 106, MASK], "the first span is kept, the second masked"


@pytest.mark.parametrize(("dice", "shown"), [(0.0, [MASK] * 3), (0.79, [MASK] * 3), (0.9, [100, 101, 102]),
                                             (0.99, [100, 101, 102])])
def test_80_10_10_is_decided_for_the_span(dice: float, shown: list[int]) -> None:
    rng = Scripted(dice)
    assert span_80_10_10([100, 101, 102], VOCAB, rng) == shown and not rng.numbers


def test_a_tenth_of_the_spans_are_random_words_each_drawn_anew() -> None:
    word = VOCAB.words
    assert span_80_10_10([100, 101], VOCAB, Scripted(0.85, 0.0, 0.9999999)) == [word[0], word[-1]]


def boundaries_of(text: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[list[int]]:
    """By a search for the nearest token outside, from every position of the input."""
    size, found = len(text), []
    inside = [any(start <= t < end for start, end in spans) for t in range(size)]
    for t in range(-1, size + 1):
        left = right = t
        while 0 <= left < size and inside[left]:
            left -= 1
        while 0 <= right < size and inside[right]:
            right += 1
        is_inside = 0 <= t < size and inside[t] and left >= 0 and right < size
        found.append([left + 1, right + 1] if is_inside else [IGNORE] * 2)
    return found


def test_boundaries_by_brute_force() -> None:
    """Never a token inside of a span, never [CLS] or [SEP]; spans at the edges have none."""
    edges = 0
    for seed in range(60):
        example = spans_masked(TEXT, vocab=VOCAB, rng=Random(seed), rate=0.4)
        spans = found(example)
        assert example.labels["boundaries"].tolist() == boundaries_of(TEXT, spans)
        edges += spans[0][0] == 0 or spans[-1][1] == len(TEXT)
    assert edges, "some span was at an edge"


def test_given_spans_are_merged_if_adjacent() -> None:
    example = spans_masked(text_of(8), vocab=VOCAB, rng=Random(0), spans=[(1, 2), (2, 4), (5, 6)],
                           corrupt=lambda span, *_: [MASK] * (len(span) - 1) + [999])
    assert example.tokens.tolist() == [CLS, 100, MASK, MASK, 999, 104, 999, 106, 107, SEP]
    assert example.labels["boundaries"][2:7].tolist() == [[1, 5]] * 3 + [[IGNORE] * 2] + [[5, 7]]


def test_same_seed_same_example() -> None:
    one, again, other = (spans_masked(TEXT, vocab=VOCAB, rng=Random(seed)) for seed in (7, 7, 8))
    assert torch.equal(one.tokens, again.tokens) and torch.equal(one.targets, again.targets)
    assert not torch.equal(one.targets, other.targets)


def test_same_example_on_every_machine() -> None:
    """Written down once: what the one stream that Python guarantees makes of it."""
    assert found(spans_masked(TEXT, vocab=VOCAB, rng=Random(42))) == [(1, 7), (22, 25), (67, 73)]


def test_what_cannot_be_masked() -> None:
    for ids in ([100, 101], Text([100, 101])):
        with pytest.raises(ValueError, match=r"span masking needs the words of a text"):
            spans_masked(ids, vocab=VOCAB, rng=Random(0))
    with pytest.raises(ValueError, match="no words, so nothing can be masked"):
        spans_masked(Text(words=()), vocab=VOCAB, rng=Random(0))
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        spans_masked(TEXT, vocab=VOCAB, rng=Random(0), rate=-1)
    for p in (0, 1.1):
        with pytest.raises(ValueError, match="parameter of the geometric distribution must be above 0 and at most 1"):
            spans_masked(TEXT, vocab=VOCAB, rng=Random(0), p=p)
    for spans, said in (([(0, 2)], r"the span \(0, 2\) does not begin and end with a whole word"),
                        ([(2, 3)], "does not begin and end with a whole word"),
                        ([(3, 4), (0, 1)], "in text order"), ([(0, 200)], "in text order")):
        with pytest.raises(ValueError, match=said):
            spans_masked(TEXT, vocab=VOCAB, rng=Random(0), spans=spans)


def test_the_mask_lab_draws_it() -> None:
    lab = MaskLab(words(), "the old baker told the ferryman a story", "spans_masked", choices={"rate": 0.6, "p": 0.1})
    assert lab.message == "" and lab.state["segments"] == [0] * 10
    assert [choice["name"] for choice in lab.state["choices"]] == ["rate", "p"]
    assert sum(target is not None for target in lab.state["targets"]) == 5
