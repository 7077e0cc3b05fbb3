"""CogLTX's training windows on blocks made by hand: what a window holds, in which order texts are used, and how their
relevance levels change."""

from contextlib import nullcontext
from itertools import groupby
from random import Random

import pytest
import torch
from cogltx_small import CAPACITY, CLS, SEP, block, positions, small
from fake_gpu import fake_gpu

from plmlab.example import Batch
from plmlab.models import cogltx_training
from plmlab.models.cogltx import CogLTX, reasoner_example
from plmlab.models.cogltx_training import LongText, TrainingWindows, changed_level, interventions
from plmlab.models.memory_recall import BlockSpan, Window
from plmlab.train import fit

pytestmark = pytest.mark.usefixtures("one_thread")
QUERY = (CLS, 8, 9, SEP)


def text(words: list[int], answer: tuple[int, int, int], relevant=(), query=QUERY, **more) -> LongText:
    """A text of blocks with so many tokens each."""
    return LongText(query, tuple(block(position, size) for position, size in enumerate(words)), BlockSpan(*answer),
                    [int(position in relevant) for position in range(len(words))], **more)


def held(window: Window) -> list[int]:
    return [one.position for one in window.blocks]


def test_a_window_by_hand() -> None:
    """Blocks of 5, 6, 3 and 5 tokens and a query of 4; a block that does not fit is left out, and a later one may
    fit."""
    made = text([4, 5, 2, 4], (0, 0, 1))
    assert held(made.window([3, 0, 3], 14)) == [0, 3]
    assert held(made.window([3, 0], 13)) == [3]
    assert held(made.window([3, 1, 0, 2, 1], 17)) == [1, 3]
    assert held(made.window([3, 1, 2, 0], 14)) == [2, 3]
    assert held(made.window([3, 2, 1, 0], 23)) == [0, 1, 2, 3]
    assert made.window([1], 10).ids == (*QUERY, *block(1, 5).ids) and held(made.window([1], 9)) == []


def test_the_windows_of_the_judge() -> None:
    """One of consecutive blocks, any of them; the relevant blocks with different others."""
    made, rng = text([4, 6, 2, 5, 1, 7, 3, 8, 2, 4], (6, 1, 3), {1, 8}), Random(0)
    first, second = set(), set()
    for _ in range(60):
        one, other = made.judge_windows(CAPACITY, rng)
        first.add(tuple(held(one)))
        second.add(tuple(held(other)))
        assert one.query == other.query == QUERY and max(len(one), len(other)) <= CAPACITY
        assert min(len(left) for left in made.blocks if left not in other.blocks) > CAPACITY - len(other), "it is full"
    assert first == {(0, 1, 2, 3, 4), (5, 6, 7, 8), (9,)}  # 23, 24 and 5 tokens; with the next block more than 28
    assert all({1, 6, 8} < {*some} and sorted(some) == [*some] for some in second)
    assert len(second) > 5 and set.union(*map(set, second)) == {*range(10)}


def test_more_relevant_blocks_than_fit() -> None:
    """The judge sees any of them; the reasoner always reads the answer, which would often be left out."""
    made, rng = text([6] * 12, (9, 2, 4), {*range(8)}), Random(2)  # three of the nine relevant blocks fit
    judged, read = set(), set()
    for _ in range(40):
        judged.add(tuple(held(made.judge_windows(CAPACITY, rng)[1])))
        for window in made.reasoner_windows(CAPACITY, rng):
            assert len(window) <= CAPACITY and window.query == QUERY
            example = reasoner_example(window, *made.answer)
            start, end = (int(example.labels[name]) for name in ("start", "end"))
            assert example.tokens[start:end + 1].tolist() == [*block(9, 6).ids[2:4]]
            read.add(tuple(held(window)))
    with pytest.raises(ValueError, match="no block 9"):
        reasoner_example(Window(QUERY, made.blocks[:3]), *made.answer)
    assert all(len(some) == 4 and {*some} <= {*range(8), 9} for some in judged | read)
    assert any(9 not in some for some in judged) and all(9 in some for some in read)
    assert min(len(judged), len(read)) > 10


def test_the_reasoner_reads_the_best_scored_blocks_once_and_random_ones_once() -> None:
    estimates = [0.8, 0.1, 0.0, 0.3, 0.2, 0.9, 0.7, 0.4]
    made, rng = text([4] * 8, (3, 0, 2), {1}, estimates=estimates), Random(3)
    windows = [made.reasoner_windows(CAPACITY, rng) for _ in range(30)]  # five blocks fit
    assert {tuple(held(one)) for one, _ in windows} == {(0, 1, 3, 5, 6)}
    others = {tuple(held(other)) for _, other in windows}
    assert len(others) > 5 and all({1, 3} < {*some} and len(some) == 5 for some in others)


@pytest.mark.parametrize(("level", "difference", "changed"), [
    (-1, 0.2, 0), (0, 0.2, 1), (1, 0.2, 2), (2, 0.2, 2), (0, 0.1999, 0), (1, 9.0, 2), (0, 0.0, 0), (2, -0.0499, 2),
    (2, -0.05, 1), (1, -0.05, 0), (0, -0.05, -1), (-1, -0.05, -1), (-1, -9.0, -1), (3, 0.2, 3), (3, 0.0, 3)])
def test_levels_change_at_the_thresholds(level: int, difference: float, changed: int) -> None:
    assert changed_level(level, difference) == changed


class Scored(CogLTX):
    """A CogLTX whose judge scores a block by its first token and the number of blocks in the window."""

    def scores(self, windows, /):
        return [[value(one.position, len(window.blocks)) for one in window.blocks] for window in windows]


def value(position: int, count: int) -> float:
    return (37 * position % 11) / 11 + count / 1000


def texts(number: int) -> list[LongText]:
    """Texts that differ in their query, answer and relevant blocks."""
    return [text([4, 2, 5, 3, 6, 4, 2, 5, 1][:9 - one % 2], (one % 8, 0, 1), {(one + 3) % 8}, (CLS, 8 + one, SEP))
            for one in range(number)]


def asked(batch: Batch) -> list[int]:
    """The number of each row's text."""
    return (batch.tokens[:, 1] - 8).tolist()


def test_each_text_once_per_epoch_in_another_order() -> None:
    windows = TrainingWindows(small(Scored), texts(6), size=2)
    epochs = []
    for epoch in range(4):
        rows = []
        for step in range(3 * epoch, 3 * epoch + 3):
            batch = windows(step)
            assert asked(batch.judging) == asked(batch.reasoning)
            assert [len([*same]) for _, same in groupby(asked(batch.judging))] == [2, 2]
            rows += asked(batch.judging)[::2]
        assert sorted(rows) == [*range(6)]
        epochs.append(tuple(rows))
    assert len({*epochs}) == 4


def test_the_same_seed_gives_the_same_windows() -> None:
    def tokens(seed: int, number: int = 6, size: int = 2) -> list[torch.Tensor]:
        windows = TrainingWindows(small(Scored), texts(number), size=size, seed=seed)
        return [part.tokens for batch in map(windows, range(6)) for part in (batch.judging, batch.reasoning)]
    first, again, other = tokens(1), tokens(1), tokens(2)
    assert all(map(torch.equal, first, again))
    assert not any(map(torch.equal, first[::2], other[::2]))
    assert not all(map(torch.equal, tokens(1, 1, 1), tokens(2, 1, 1))), "of one text, other windows are drawn"


def test_too_few_texts() -> None:
    with pytest.raises(ValueError, match="3 texts"):
        TrainingWindows(small(), texts(3), size=4)


def test_estimates_are_the_judge_s_scores_and_select_blocks_at_once() -> None:
    """A block in both windows of a text has the score of the second; the others keep theirs."""
    given = texts(4)
    batch = TrainingWindows(small(Scored), given, size=2)(0)
    used = {*asked(batch.judging)}
    expected = {number: [0.0] * len(one.blocks) for number, one in enumerate(given)}
    for number, row in zip(asked(batch.judging), batch.judging.tokens.tolist(), strict=True):
        for position in (places := positions(row)):
            expected[number][position] = value(position, len(places))
    assert {number: one.estimates for number, one in enumerate(given)} == expected and len(used) == 2
    for number, row, start in [*zip(asked(batch.reasoning), batch.reasoning.tokens.tolist(),
                                    batch.reasoning.labels["start"].tolist(), strict=True)][::2]:
        one = given[number]
        assert row[start] == one.blocks[one.answer.position].ids[0]
        best = sorted(range(len(one.blocks)), key=lambda place, one=one: -one.estimates[place])
        assert positions(row) == held(one.window([one.answer.position, *sorted(one.relevant), *best], CAPACITY))


def test_levels_change_from_an_epoch_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the interventions on the reasoner's windows, each of which counts; a batch has the levels from before."""
    effect = {0: 0.2, 1: -0.05, 2: 0.1}
    monkeypatch.setattr(cogltx_training, "interventions", lambda model, window, answer: {
        one.position: effect[one.position % 3] for one in window.blocks if one.position != answer.position})
    given = texts(4)
    windows, initial = TrainingWindows(small(Scored), given, size=2, interventions_from=1), [[*one.levels] for one in
                                                                                             given]
    for step in range(2):
        windows(step)
        assert [one.levels for one in given] == initial
    for step in range(2, 24):
        expected = [[*one.levels] for one in given]
        batch = windows(step)
        for number, row, label in zip(asked(batch.judging), batch.judging.tokens.tolist(),
                                      batch.judging.labels["relevance"].tolist(), strict=True):
            assert [label[row.index(given[number].blocks[place].ids[0])] for place in positions(row)] == [
                int(expected[number][place] >= 1) for place in positions(row)]
        for number, row in zip(asked(batch.reasoning), batch.reasoning.tokens.tolist(), strict=True):
            for place in positions(row):
                if place != given[number].answer.position:
                    change = (1, -1, 0)[place % 3]
                    expected[number][place] = min(2, max(-1, expected[number][place] + change))
        assert [one.levels for one in given] == expected
    assert all(one.levels[one.answer.position] == 3 for one in given) and [one.levels for one in given] != initial

    unchanged = texts(4)
    never = TrainingWindows(small(Scored), unchanged, size=2)
    for step in range(6):
        never(step)
    assert [one.levels for one in unchanged] == initial


def test_nothing_is_left_on_the_wrong_device() -> None:
    """Interventions, and training on the windows with them; the curve is that of a CPU."""
    window, answer = Window(QUERY, (block(1), block(3), block(4))), BlockSpan(3, 1, 2)
    differences = interventions(small().float(), window, answer)
    results = []
    for device in ("cpu", "cuda"):
        model, given = small().float(), texts(4)
        with fake_gpu() if device == "cuda" else nullcontext():
            assert interventions(small().float().to(device), window, answer) == pytest.approx(differences, abs=1e-4)
            windows = TrainingWindows(model, given, size=2, interventions_from=1)
            losses = fit(model, windows, steps=4, lr=0.01, precision="float32", compile=False, show=False).losses
        results.append((losses, [score for one in given for score in one.estimates]))
    for here, there in zip(*results, strict=True):
        assert there == pytest.approx(here, rel=1e-3)
