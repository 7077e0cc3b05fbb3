"""MemRecall against a second implementation, and on texts of words worked out by hand, whose [SEP] is left out."""

from collections.abc import Sequence
from random import Random

import pytest

from plmlab.models.memory_recall import MemoryBlock, Window, consecutive_windows, pinned, recall, single_blocks


def ids(text: str) -> tuple[int, ...]:
    return tuple(int.from_bytes(word.encode()) for word in text.split())


QUERY = ids("birthplace director nightfall")
HOPS = ("holt born oslo", "rain fell on hills", "nightfall director holt", "nightfall sold many tickets")


def blocks(*texts: str) -> list[MemoryBlock]:
    return [MemoryBlock(position, ids(text)) for position, text in enumerate(texts)]


def positions(some: Sequence[MemoryBlock]) -> list[int]:
    return [block.position for block in some]


def overlap(windows: Sequence[Window]) -> list[list[float]]:
    """The fraction of a block's words that occur in the query or in another block; no block repeats a word."""
    return [[sum(word in window.query or window.ids.count(word) > 1 for word in block.ids) / len(block)
             for block in window.blocks] for window in windows]


def recalled(text: Sequence[MemoryBlock], judge=overlap, **options) -> list[int]:
    return positions(recall(QUERY, text, judge, **options)[-1].kept.blocks)


def second_implementation(scored, query: int, lengths: list[int], joint: bool, keep, capacity: int) -> list[tuple]:
    """Positions instead of blocks; the best and the worst are looked for one at a time."""
    memory, rounds = [], []
    for more in keep:
        used = query + sum(lengths[one] for one in memory)
        rest = [one for one in range(len(lengths)) if one not in memory and used + lengths[one] <= capacity]
        scores: dict[int, float] = {}
        while rest:
            group = [rest.pop(0)]
            while joint and rest and used + sum(lengths[one] for one in [*group, rest[0]]) <= capacity:
                group.append(rest.pop(0))
            scores |= zip(group, scored(memory + group)[len(memory):], strict=True)
        competition, entered, limit = dict(scores), [], len(memory) + more if more else len(lengths)
        while scores:
            winner = min(one for one in scores if scores[one] == max(scores.values()))
            if (used := used + lengths[winner]) > capacity:
                break
            entered.append(winner)
            del scores[winner]
        memory = [one for one in range(len(lengths)) if one in memory + entered]
        rehearsal = dict(zip(memory, scored(memory), strict=True))
        while len(memory) > limit:
            memory.remove(max(one for one in memory if rehearsal[one] == min(rehearsal[other] for other in memory)))
        rounds.append((competition, entered, rehearsal, memory))
        if len(memory) == len(rehearsal):
            break
    return rounds


@pytest.mark.parametrize("keep", [(3, None), (3, 5), (1, 1, 1), (None,), (2, 1, None)])
@pytest.mark.parametrize("grouping", [consecutive_windows, single_blocks])
@pytest.mark.parametrize("levels", [3, 10**9])
def test_against_a_second_implementation(keep, grouping, levels: int) -> None:
    """A score depends on all blocks in the window and on their order; with three levels many scores are equal."""
    most = 0
    for seed in range(40):
        rng = Random(f"{seed} {keep}")
        lengths = [1 + int(rng.random() * 8) for _ in range(1 + int(rng.random() * 14))]
        capacity = 4 + max(lengths) + int(rng.random() * 25)

        def scored(given: list[int], seed=seed) -> list[float]:
            return [int(Random(f"{seed} {given} {one}").random() * levels) / levels for one in given]
        rounds = recall([0] * 4, [MemoryBlock(at, (7,) * size) for at, size in enumerate(lengths)],
                        lambda windows, scored=scored: [scored(positions(window.blocks)) for window in windows],
                        grouping=grouping, keep=keep, capacity=capacity)
        assert [(one.competition, positions(one.entered), one.rehearsal, positions(one.kept.blocks)) for one in rounds
                ] == second_implementation(scored, 4, lengths, grouping is consecutive_windows, keep, capacity)
        assert all(len(window) <= capacity for one in rounds for window in (*one.windows, one.rehearsed))
        most = max(most, len(rounds))
    assert most == len(keep)


def test_rehearsal_drops_the_winner_of_the_competition() -> None:
    """Block 1 has two words of the query. The others have one and none, but each other's: they are the evidence."""
    text = blocks("nightfall holt filmed", "director birthplace unknown today", "holt filmed oslo")
    first, = recall(QUERY, text, overlap, grouping=single_blocks, keep=(2,))
    assert first.competition == {0: 1 / 3, 1: 1 / 2, 2: 0} and positions(first.entered) == [1, 0, 2]
    assert first.rehearsal == {0: 1, 1: 1 / 2, 2: 2 / 3} and positions(first.dropped) == [1]


def test_a_block_enters_in_the_second_round() -> None:
    """Rehearsal does more than rank again: block 0 has no word of the query, but one of block 2, which is held; it
    enters where block 3 decayed. One-step retrieval never has it in memory."""
    first, second = recall(QUERY, blocks(*HOPS), overlap, grouping=single_blocks, keep=(1, None), capacity=11)
    assert first.competition == {0: 0, 1: 0, 2: 2 / 3, 3: 1 / 4}
    assert positions(first.rehearsed.blocks) == [2, 3] and positions(first.kept.blocks) == [2]
    assert second.competition == {0: 1 / 3, 1: 0, 3: 1 / 4} and positions(second.entered) == [0]
    assert second.kept.ids == QUERY + ids("holt born oslo nightfall director holt")
    assert second.kept.spans == [(3, 6), (6, 9)] and len(second.kept) == 9
    assert recalled(blocks(*HOPS), grouping=single_blocks, keep=(None,), capacity=11) == [2, 3]


def test_blocks_held_and_excluded_by_hand() -> None:
    """Block 1 is irrelevant and decays unless it is pinned."""
    text, options = blocks(*HOPS), {"grouping": single_blocks, "keep": (1, None), "capacity": 14}
    assert recalled(text, held=[1], **options) == [0, 2, 3]
    assert recalled(text, pinned(overlap, [1]), held=[1], **options) == [0, 1, 2]
    assert recalled([*text[:2], text[3]], **options) == [0, 1, 3]
    assert [*recall(QUERY, text, overlap, held=[1], **options)[0].competition] == [0, 2, 3]


def test_windows_by_hand() -> None:
    one, two, three = blocks("a b c", "d e f", "g h")
    assert consecutive_windows([one, two, three], 6) == [(one, two), (three,)]
    assert single_blocks([one, two, three], 6) == [(one,), (two,), (three,)]


def test_the_first_block_that_does_not_fit_ends_the_competition() -> None:
    """Block 3 would fit, but block 2 is better and does not. Of two blocks with equal scores the earlier is better."""
    def judge(windows):
        return [[[1, 2, 1, 0][block.position] for block in window.blocks] for window in windows]
    text = blocks("a b c", "d e", "f g h", "i")
    assert [recalled(text, judge, keep=(None,), capacity=room) for room in (9, 12)] == [[0, 1], [0, 1, 2, 3]]
    assert recalled(text, judge, keep=(2,), capacity=12) == [0, 1]


def test_no_more_blocks_than_are_kept() -> None:
    """Nothing decays, so that there is no second round."""
    assert [recalled(blocks(*HOPS[:count])) for count in (1, 2, 3)] == [[0], [0, 1], [0, 1, 2]]
    assert len(recall(QUERY, blocks(*HOPS[:3]), overlap)) == 1 and len(recall(QUERY, blocks(*HOPS), overlap)) == 2


@pytest.mark.parametrize(("size", "changes", "message"), [
    (8, {}, "query has 8 tokens and the longest block 4, but the memory holds 11; shorten the query"),
    (11, {}, "query has 11 tokens and the longest"),
    (3, {"held": [1, 2, 3]}, "query and the held blocks have 14 tokens, but the memory holds 11; hold fewer"),
    (3, {"held": [5, 0]}, r"positions \[5\] are held, but they are not among the blocks"),
    (3, {"keep": ()}, r"keep=\(\) was given"), (3, {"keep": (3, 0)}, "at least 1, or None"),
    (3, {"blocks": []}, "give at least one"), (3, {"blocks": blocks(*HOPS)[::-1]}, r"\[3, 2, 1, 0\] .* text order"),
    (3, {"judge": lambda windows: [[0.5]] * len(windows)}, r"returned \[1, 1\] scores for windows of \[2, 2\] blocks"),
])
def test_invalid_arguments(size: int, changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recall(**{"query": [0] * size, "blocks": blocks(*HOPS), "judge": overlap, "capacity": 11} | changes)
