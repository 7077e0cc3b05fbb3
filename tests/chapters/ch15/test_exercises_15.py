"""The exercises of chapter 15: solutions against CogLTX and brute force, other correct answers, and mistakes."""

from functools import cache, partial
from heapq import nlargest
from itertools import accumulate, combinations, pairwise, permutations
from math import exp, inf
from random import Random

import pytest
import torch

from plmlab.chapters.ch15 import exercises as right
from plmlab.draws import choice, randint
from plmlab.example import Batch
from plmlab.exercises import check
from plmlab.models.cogltx import CogLTX, CogLTXConfig, window_example
from plmlab.models.cogltx_training import changed_level
from plmlab.models.memory_recall import MemoryBlock, Window, recall, single_blocks
from plmlab.text.splitting import PUNCTUATION_COSTS, split_at_punctuation


def blocks_of(lengths: list[int]) -> list[MemoryBlock]:
    return [MemoryBlock(position, (7,) * length) for position, length in enumerate(lengths)]


def test_block_scores_are_those_of_the_judge() -> None:
    """Windows of different lengths, so that the shorter ones are padded."""
    torch.manual_seed(0)
    model = CogLTX(CogLTXConfig.tiny(20)).eval()
    model.judge.output.requires_grad_(False).weight.mul_(20)
    windows = [Window((2, 9, 3), tuple(blocks_of(lengths))) for lengths in ([4, 2, 6], [1], [3, 3])]
    logits = model.judge(Batch.of([window_example(window) for window in windows], pad=0)).detach()
    for row, window, expected in zip(logits, windows, model.scores(windows), strict=True):
        found = right.block_scores(row, 3, [*map(len, window.blocks)])
        assert found == pytest.approx(expected, abs=1e-6)


def test_block_scores_by_hand() -> None:
    logits = torch.tensor([5.0, 0.0, 2.0, -4.0, 9.0])
    assert right.block_scores(logits, 1, [1, 2]) == pytest.approx([0.5, (1 / (1 + exp(-2)) + 1 / (1 + exp(4))) / 2])


def test_the_competition_is_that_of_memrecall() -> None:
    rng = Random(0)
    for _ in range(300):
        room = 4 + randint(rng, 20)
        lengths = [1 + randint(rng, min(room, 8)) for _ in range(1 + randint(rng, 9))]
        scores = [choice(rng, [0.1, 0.4, 0.5, 0.9, rng.random()]) for _ in lengths]
        rounds = recall((2, 3), blocks_of(lengths), lambda windows, scores=scores: [
            [scores[block.position] for block in window.blocks] for window in windows], keep=(None,), capacity=room + 2)
        assert right.competition(scores, lengths, room) == [block.position for block in rounds[0].kept.blocks]


@pytest.mark.parametrize("block_cost", [4, 1, 0])
def test_the_split_is_that_at_punctuation(block_cost: int) -> None:
    """Random texts with a possible end within each block's reach."""
    rng = Random(block_cost)
    for _ in range(200):
        text = [choice(rng, "abc?.,\n") for _ in range(randint(rng, 40))] + [choice(rng, "?.,\n")]
        costs = [float(PUNCTUATION_COSTS.get(token, inf)) for token in text]
        ends = [0, *(end for end, cost in enumerate(costs, 1) if cost < inf)]
        longest = max(end - begin for begin, end in pairwise(ends)) + randint(rng, 6)
        assert right.split_blocks(costs, longest, float(block_cost)) == split_at_punctuation(
            text, PUNCTUATION_COSTS, longest, block_cost=block_cost)


def test_the_split_is_the_best_of_all() -> None:
    rng = Random(1)
    for _ in range(60):
        longest, costs = 2 + randint(rng, 4), [float(randint(rng, 4)) for _ in range(1 + randint(rng, 9))]
        splits = [[*pairwise([0, *ends, len(costs)])]
                  for count in range(len(costs)) for ends in combinations(range(1, len(costs)), count)]
        best = min((sum(costs[end - 1] + 1.5 for _, end in split), [end - begin for begin, end in split[::-1]], split)
                   for split in splits if all(end - begin <= longest for begin, end in split))
        assert right.split_blocks(costs, longest, 1.5) == best[-1]


def test_memrecall_is_that_of_plmlab() -> None:
    """Random judges whose scores depend on all blocks in a window; each candidate has a window of its own."""
    rng, rounds_seen = Random(2), set()
    for _ in range(300):
        room = 6 + randint(rng, 20)
        lengths = [1 + randint(rng, 6) for _ in range(1 + randint(rng, 9))]
        alone = [randint(rng, 8) / 8 for _ in lengths]
        given = {pair: (randint(rng, 9) - 4) / 8 for pair in permutations(range(len(lengths)), 2)}
        keep = tuple(choice(rng, [1, 1, 2, 2, None]) for _ in range(1 + randint(rng, 4)))
        judge = right.Scorer(alone, given)
        rounds = recall((2, 3), blocks_of(lengths), lambda windows, judge=judge: [
            [*map(judge(positions := [block.position for block in window.blocks], []).get, positions)]
            for window in windows], keep=keep, capacity=room + 2, grouping=single_blocks)
        assert right.mem_recall(judge, lengths, room, keep) == [block.position for block in rounds[-1].kept.blocks]
        rounds_seen.add(len(rounds))
    assert rounds_seen == {1, 2, 3, 4}


def test_levels_are_those_of_the_training() -> None:
    rng = Random(3)
    for _ in range(100):
        levels, losses = [randint(rng, 4) - 1 for _ in range(5)], [randint(rng, 17) / 16 for _ in range(6)]
        expected = [changed_level(level, loss - 0.5, 0.25, -0.125) for level, loss in zip(levels, losses, strict=False)]
        assert right.changed_levels([*levels, 3], losses, 0.5, 5, 0.25, -0.125) == [*expected, 3]


def scores_by_split(logits, query, lengths, of=torch.mean):
    parts = logits.sigmoid().split([query, *lengths, len(logits) - query - sum(lengths)])
    return [of(part) for part in parts[1:-1]]


def by_maximum(scores, lengths, room, best=max, stop=True):
    rest, entered = dict(enumerate(scores)), []
    while rest:
        block = best(rest, key=rest.get)
        del rest[block]
        if lengths[block] <= room:
            room -= lengths[block]
            entered += [block]
        elif stop:
            break
    return sorted(entered)


def split_recursively(costs, longest, block_cost=4.0, order=lambda sizes: sizes[::-1]):
    """The minimum of (cost, sizes of the blocks from the last one) over all first blocks."""
    @cache
    def best(begin):
        if begin == len(costs):
            return 0.0, ()
        found = ((best(end)[0] + costs[end - 1] + block_cost, (end - begin, *best(end)[1]))
                 for end in range(begin + 1, min(begin + longest, len(costs)) + 1))
        return min(found, key=lambda one: (one[0], order(one[1])))
    return [*pairwise(accumulate(best(0)[1], initial=0))]


def recall_with_sets(judge, lengths, room, keep, rehearse=lambda judge, memory, scores: judge(memory, [])):
    memory = set()
    for more in keep:
        before, used = len(memory), sum(lengths[i] for i in memory)
        rest = {i for i in range(len(lengths)) if used + lengths[i] <= room} - memory
        scores = judge(memory, rest)
        while rest and used + lengths[best := min(rest, key=lambda i: (-scores[i], i))] <= room:
            rest.remove(best)
            memory.add(best)
            used += lengths[best]
        after = rehearse(judge, memory, scores)
        best = nlargest(len(memory) if more is None else before + more, sorted(memory), key=after.get)
        if len(best) == len(memory):
            break
        memory = set(best)
    return sorted(memory)


def levels_by_cases(levels, losses, loss, answer, up=0.2, down=-0.05, top=2):
    new = list(levels)
    for i in set(range(len(levels))) - {answer}:
        if losses[i] - loss >= up and new[i] < top:
            new[i] += 1
        elif losses[i] - loss <= down and new[i] > -1:
            new[i] -= 1
    return new


@pytest.mark.parametrize(("number", "answer"), [
    ("15.1", scores_by_split), ("15.2", by_maximum), ("15.3", split_recursively), ("15.4", recall_with_sets),
    ("15.5", levels_by_cases)])
def test_another_correct_answer_is_accepted(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


@pytest.mark.parametrize(("number", "answer", "named"), [
    ("15.1", partial(scores_by_split, of=torch.sum), "outputs are summed"),
    ("15.1", lambda logits, *rest: scores_by_split(logits.softmax(0).logit(), *rest), "softmax probability"),
    ("15.2", partial(by_maximum, best=min), "lowest score"), ("15.2", partial(by_maximum, stop=False), "continues"),
    ("15.3", lambda costs, longest, _: split_recursively(costs, longest, 0.0), "`block_cost` is not added"),
    ("15.4", lambda judge, *rest: recall_with_sets(lambda held, new: judge([] if new else held, new), *rest),
     "finds no second hop"),
    ("15.5", lambda levels, losses, loss, *rest: levels_by_cases(levels, [-x for x in losses], -loss, *rest), "sign"),
])
def test_a_mistake_is_named(number: str, answer, named: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and named in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("15.1", partial(scores_by_split, of=torch.amax)),
    ("15.2", lambda scores, lengths, room: by_maximum([round(score, 1) for score in scores], lengths, room)),
    ("15.3", lambda costs, longest, _: split_recursively(costs, longest)),
    ("15.3", partial(split_recursively, order=lambda sizes: sizes)), ("15.3", partial(split_recursively, order=len)),
    ("15.4", partial(recall_with_sets, rehearse=lambda judge, memory, scores: {i: judge([i], [])[i] for i in memory})),
    ("15.4", lambda *given: recall_with_sets(*given[:3], given[3][:1])),
    ("15.5", lambda *given: levels_by_cases(*given[:4])), ("15.5", partial(levels_by_cases, top=1)),
])
def test_no_wrong_answer_passes(number: str, answer) -> None:
    """Maximum, rounding, a fixed cost, two other tie rules, separate rehearsals, one round, fixed limits."""
    assert not check(number, answer).ok


def test_the_judge_rejects_tokens() -> None:
    feedback = check("15.4", lambda judge, lengths, *_: judge(["a"], lengths))
    assert feedback.verdict == "error" and "two lists of block indices" in repr(feedback)
