"""Span corruption: T5's worked example, the numbers that are fixed, and the spans that are drawn."""

from collections import Counter
from itertools import combinations, pairwise
from random import Random

import pytest
from standin import words

from plmlab.example import IGNORE, PairExample
from plmlab.objectives import OBJECTIVES, span_corruption
from plmlab.objectives.span_corruption import anywhere, end_dropped, segments
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary

SENTENCE = "Thank you for inviting me to your party last week ."
VOCAB = Vocabulary(200)
LONG = list(range(40, 200))
SENTINELS = VOCAB.sentinels
START, END = VOCAB.need("start"), VOCAB.need("end")


def made(count: int, seed: int = 0, **choices) -> PairExample:
    return span_corruption(LONG[:count], vocab=VOCAB, rng=Random(seed), **choices)


def sides(example: PairExample) -> tuple[list[int], list[int]]:
    """What the encoder reads and what the decoder predicts, both without [END]."""
    assert example.source.tokens[-1] == END and example.target.targets[-1] == END
    return example.source.tokens.tolist()[:-1], example.target.targets.tolist()[:-1]


def spans_in(example: PairExample) -> dict[int, list[int]]:
    """Sentinel → what the target has after it."""
    spans: dict[int, list[int]] = {}
    for token in sides(example)[1]:
        if token in SENTINELS:
            spans[token] = []
        else:
            spans[[*spans][-1]].append(token)
    return spans


def restored(example: PairExample) -> list[int]:
    """The text, with each span put back in place of its sentinel."""
    spans = spans_in(example)
    return [word for token in sides(example)[0] for word in spans.get(token, [token])]


def test_the_worked_example() -> None:
    """Figure 2: "for inviting" and "last" are dropped; a third sentinel ends the target."""
    tokenizer = Tokenizer.words([SENTENCE], 100)
    example = span_corruption(tokenizer.encode(SENTENCE), vocab=tokenizer.vocab, rng=Random(0), spans=[(2, 4), (8, 9)])
    for ids, expected in ((example.source.tokens, "Thank you [X0] me to your party [X1] week . [END]"),
                          (example.target.targets, "[X0] for inviting [X1] last [X2] [END]"),
                          (example.target.tokens, "[START] [X0] for inviting [X1] last [X2]")):
        assert " ".join(tokenizer.tokens(ids.tolist())) == expected
    assert example.target.visible.pattern == "causal" and example.source.visible.pattern == "full"
    assert example.source.targets.eq(IGNORE).all() and example.cross.dense().all()
    assert example.target.position_ids.tolist() == [list(range(7))]


@pytest.mark.parametrize(("spans", "source", "target"), [
    ([(0, 2)], ["X0", 42, 43], ["X0", 40, 41, "X1"]),
    ([(3, 4)], [40, 41, 42, "X0"], ["X0", 43]),
    ([(0, 1), (3, 4)], ["X0", 41, 42, "X1"], ["X0", 40, "X1", 43]),
    ([(0, 1), (1, 3)], ["X0", "X1", 43], ["X0", 40, "X1", 41, 42, "X2"]),
    ([(0, 4)], ["X0"], ["X0", 40, 41, 42, 43]),
    ([], [40, 41, 42, 43], ["X0"]),
])
def test_a_last_sentinel_stands_only_where_kept_tokens_follow(spans, source, target) -> None:
    named = {f"X{i}": sentinel for i, sentinel in enumerate(SENTINELS)}
    assert sides(made(4, spans=spans)) == tuple([named.get(token, token) for token in side]
                                                for side in (source, target))


@pytest.mark.parametrize("place", [end_dropped, anywhere])
@pytest.mark.parametrize("size", [*range(1, 15), 30, 31, 60, 160])
def test_the_numbers_are_fixed_and_the_text_can_be_restored(size: int, place) -> None:
    for seed in range(10):
        example = made(size, seed, place=place)
        source, target = sides(example)
        assert restored(example) == LONG[:size]
        lost = sum(map(len, spans_in(example).values()))
        assert lost == min(max(1, round(0.15 * size)), size - 1)
        marks = [token for token in target if token in SENTINELS]
        assert marks == list(SENTINELS[:len(marks)])
        shown = [token for token in source if token in SENTINELS]
        assert len(shown) == (max(1, round(lost / 3)) if lost else 0)
        assert len(marks) == len(shown) + (source[-1] not in SENTINELS)
        if place is end_dropped and lost:
            assert source[0] not in SENTINELS and source[-1] in SENTINELS
        assert not any(one in SENTINELS and other in SENTINELS for one, other in pairwise(source))


def test_a_text_of_one_span_always_loses_its_end() -> None:
    """The authors' placement, up to 30 tokens; `anywhere` reaches every place."""
    for size in (10, 20, 30):
        assert {tuple(sides(made(size, seed))[0]) for seed in range(20)} == {
            (*LONG[:size - round(0.15 * size)], SENTINELS[0])}
    starts = {sides(made(10, seed, place=anywhere))[0].index(SENTINELS[0]) for seed in range(200)}
    assert starts == set(range(9))


def divisions(kept: int, dropped: int, spans: int, ends: bool) -> set[tuple[tuple[int, int], ...]]:
    """All sets of spans, by trying every set of dropped tokens."""
    count, found = kept + dropped, set()
    for lost in combinations(range(count), dropped):
        runs = [i for i in lost if i - 1 not in lost]
        if len(runs) == spans and (not ends or (count - 1 in lost and 0 not in lost)):
            found.add(tuple((i, next(j for j in range(i, count + 1) if j not in lost)) for i in runs))
    return found


@pytest.mark.parametrize(("place", "ends"), [(end_dropped, True), (anywhere, False)])
def test_every_division_is_equally_likely(place, ends: bool) -> None:
    expected = divisions(5, 4, 2, ends)
    assert len(expected) == (12 if ends else 45)
    counts = Counter(tuple(place(5, 4, 2, Random(seed))) for seed in range(100 * len(expected)))
    assert counts.keys() == expected
    assert all(60 < count < 145 for count in counts.values())


def test_segments_are_all_compositions() -> None:
    counts = Counter(tuple(segments(5, 3, Random(seed))) for seed in range(1200))
    assert counts.keys() == {(1, 1, 3), (1, 3, 1), (3, 1, 1), (1, 2, 2), (2, 1, 2), (2, 2, 1)}
    assert all(150 < count < 250 for count in counts.values())
    assert segments(4, 1, Random(0)) == [4] and segments(3, 3, Random(0)) == [1, 1, 1]


def test_rate_and_mean_length() -> None:
    for rate, mean, lost, count in ((0.5, 5, 50, 10), (0.25, 2, 25, 12), (0.1, 10, 10, 1), (0.15, 1, 15, 15),
                                    (0.6, 3, 60, 20)):
        example = made(100, rate=rate, mean=mean)
        assert sum(map(len, spans_in(example).values())) == lost
        assert sum(token in SENTINELS for token in sides(example)[0]) == count
    assert len(spans_in(made(10, rate=0.9, mean=1))) == 1, "never more spans than kept tokens"


@pytest.mark.parametrize(("choices", "message"), [
    ({"rate": 0}, "rate=0"), ({"rate": 1.5}, "rate=1.5"), ({"mean": 0.5}, "mean=0.5"),
    ({"spans": [(3, 2)]}, "in text order"), ({"spans": [(0, 2), (1, 3)]}, "not overlapping"),
    ({"spans": [(2, 2)]}, "not empty"), ({"spans": [(0, 200)]}, "in a text of 40 words"),
    ({"rate": 1.0, "mean": 1.0, "spans": [(i, i + 1) for i in range(32)]}, "32 spans need 33 sentinels"),
])
def test_what_is_refused(choices: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(40, **choices)


def test_the_mask_lab_offers_it() -> None:
    objective = OBJECTIVES["span_corruption"]
    assert objective.texts == 1 and [choice.name for choice in objective.choices] == ["rate", "mean"]
    text = words().text(SENTENCE)
    example = objective.make(text, vocab=words().vocab, rng=Random(0), rate=0.3)
    assert isinstance(example, PairExample)
