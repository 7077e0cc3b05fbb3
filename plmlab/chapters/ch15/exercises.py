"""Exercises of chapter 15, CogLTX: scores of blocks, their competition, splitting, MemRecall, relevance levels."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from jaxtyping import Float
from torch import Generator, Tensor, rand, randn, tensor

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def block_scores(logits: Float[Tensor, "time"], query: int, lengths: list[int]) -> list[float]:
    """The judge's score of each block in its input, between 0 and 1.

    ``logits`` has one logit per position. The first ``query`` positions are the query, [CLS] and [SEP] included. They
    are followed by the blocks, each with its [SEP]; ``lengths`` are their numbers of tokens, [SEP] included. Then there
    may be padding, whose logits are arbitrary. The judge's output at a position is σ(logit), where σ is the sigmoid,
    and the score of a block is the mean output of its tokens. Return one float per block, in the order of the text.
    """
    outputs, begin, scores = logits.sigmoid(), query, list[float]()
    for length in lengths:
        scores.append(float(outputs[begin:begin + length].mean()))
        begin += length
    return scores


def draw_judged(rng: Generator) -> Probes:
    """Inputs for 15.1: name → (logits, query, lengths)."""
    def drawn(query: int, lengths: list[int], rest: int, scale: float = 2.0, shift: float = 0.0) -> tuple[object, ...]:
        return scale * randn(query + sum(lengths) + rest, generator=rng) + shift, query, lengths

    return {
        "one block of two tokens": (tensor([3.0, 1.0, 0.0, 2.0]), 2, [2]), "two blocks": drawn(3, [2, 4], 0),
        "padding with large logits": (tensor([1.0, -1.0, 2.0, -2.0, 0.5, 9.0, 8.0]), 1, [3, 1]),
        "all logits are negative": drawn(2, [3, 2, 4], 0, shift=-5.0),
        "logits of hundreds, positive and negative": drawn(4, [5, 3], 2, scale=300.0),
        "two blocks of the same length": drawn(5, [3, 3], 1), "no block": drawn(3, [], 2),
        "a long query and seven blocks": drawn(11, [4, 2, 7, 3, 2, 5, 6], 5),
    }


def competition(scores: list[float], lengths: list[int], room: int) -> list[int]:
    """The retrieval competition: the indices of the blocks that enter the memory, in the order of the text.

    Block i has the score ``scores[i]`` and ``lengths[i]`` tokens, and the memory has room for ``room`` tokens. The
    blocks enter one after the other, the block with the highest score first, as long as they fit. The first one that is
    longer than the room left ends the competition: no block after it enters, even if it is shorter. Of equal scores,
    that of the earlier block ranks first.
    """
    entered = list[int]()
    for block in sorted(range(len(scores)), key=lambda block: -scores[block]):
        if lengths[block] > room:
            break
        room -= lengths[block]
        entered.append(block)
    return sorted(entered)


def draw_competing(rng: Generator) -> Probes:
    """Inputs for 15.2: name → (scores, lengths, room)."""
    def drawn(blocks: int, room: int, tied: int = 1000) -> tuple[list[float], list[int], int]:
        scores = [round(score * tied) / tied for score in rand(blocks, generator=rng).tolist()]
        return scores, [2 + int(7 * number) for number in rand(blocks, generator=rng).tolist()], room

    return {
        "two of three blocks": ([0.2, 0.7, 0.9], [3, 3, 3], 7), "a block fits exactly": ([0.1, 0.8, 0.6], [2, 5, 4], 9),
        "the next block in rank is too long": ([0.9, 0.6, 0.8, 0.7], [4, 2, 3, 5], 10),
        "equal scores": ([0.5, 0.8, 0.5, 0.5], [4, 3, 4, 4], 11),
        "all scores are low": ([0.02, 0.01, 0.04, 0.03], [3, 2, 4, 2], 9),
        "a long block has the highest score": ([0.4, 0.9, 0.6, 0.5], [2, 8, 3, 2], 12),
        "the first in rank does not fit": ([0.3, 0.9], [2, 9], 8), "all fit": ([0.3, 0.9, 0.0], [2, 3, 4], 20),
        "no room": ([0.3, 0.9], [2, 3], 0), "no block": ([], [], 5),
        "eleven blocks": drawn(11, 31), "thirteen blocks, with equal scores": drawn(13, 29, tied=4),
    }


def split_blocks(costs: list[float], longest: int, block_cost: float = 4.0) -> list[tuple[int, int]]:
    """Split a text into consecutive blocks of at most ``longest`` tokens, with the lowest total cost.

    ``costs[i]`` is the cost of ending a block after token i, such as 1 after a full stop and 2 after a comma; it is
    ∞, float("inf"), where no block may end. Each block has the cost of its end and ``block_cost``. There is always a
    split with a finite total cost. Return the span (begin, end) of each block as in a slice, in order: the first begins
    at 0, the last ends at len(costs). Of several splits with the lowest cost, return the one with the shortest last
    block; if that is the same, the one with the shortest block before it, and so on.
    """
    total, begin_of = [0.0], [0]  # by the end of the last block
    for end in range(1, len(costs) + 1):
        begins = range(max(end - longest, 0), end)
        begin = min(reversed(begins), key=total.__getitem__)
        begin_of.append(begin)
        total.append(total[begin] + costs[end - 1] + block_cost)
    spans, end = list[tuple[int, int]](), len(costs)
    while end > 0:
        spans.insert(0, (begin_of[end], end))
        end = begin_of[end]
    return spans


def draw_costs(rng: Generator) -> Probes:
    """Inputs for 15.3: name → (costs, longest, block cost)."""
    def given(text: str, longest: int, block_cost: float = 4.0) -> tuple[list[float], int, float]:
        return [inf if cost == "-" else float(cost) for cost in text], longest, block_cost

    def drawn(tokens: int, longest: int, block_cost: float) -> tuple[list[float], int, float]:
        numbers = (8 * rand(tokens - 1, generator=rng)).long().tolist()
        return given("".join("01248---"[number] for number in numbers) + "1", longest, block_cost)

    return {
        "two sentences": given("--1-1", 3), "a longer first block ends at a comma": given("-1-2-1", 4),
        "an early end makes one block more": given("0--1---1", 4), "ends are expensive": given("-0-79-0--9-0", 5),
        "a block of exactly the allowed length": given("---1", 4), "equal costs": given("11111", 2),
        "blocks have no cost": given("0-0-0-0", 5, 0.0), "blocks of one token": given("0120", 1),
        "a text of one token": given("2", 5), "a text shorter than a block": given("1-1-2", 9),
        "24 tokens": drawn(24, 6, 4.0), "32 tokens, and blocks with a low cost": drawn(32, 9, 0.5),
    }


def greedy_split(costs: list[float], longest: int, _: float) -> list[tuple[int, int]]:
    """Split a text greedily: each block is as long as possible."""
    ends = [0]
    while ends[-1] < len(costs):
        ends.append(max(end for end, cost in enumerate(costs, 1) if 0 < end - ends[-1] <= longest and cost < inf))
    return [*pairwise(ends)]


def mem_recall(
    judge: "Callable[[list[int], list[int]], dict[int, float]]", lengths: list[int], room: int,
    keep: tuple[int | None, ...],
) -> list[int]:
    """MemRecall: the indices of the blocks in the memory at the end, in the order of the text.

    Block i has ``lengths[i]`` tokens. The memory holds the query and at most ``room`` tokens of blocks; at first it
    holds no block. ``judge(held, candidates)`` takes two lists of block indices and returns a dict with the score of
    each of these blocks. The scores depend on which blocks are held. For each number n in ``keep`` there is a round:

    1. *Competition*. The candidates are the blocks that are not held and fit into the room that the held blocks leave.
       Score them with judge(held, candidates). They enter by decreasing score until the next one does not fit.
    2. *Rehearsal*. Score all blocks that are now in the memory with judge(memory, []).
    3. *Decay*. With these scores, keep the best blocks: n more than were held at the beginning of the round. If n is
       None, or if there are not more, keep all.

    A round in which no block decays is the last one. Of equal scores, that of the earlier block ranks first.
    """
    held = list[int]()
    for more in keep:
        left = room - sum(lengths[block] for block in held)
        candidates = [block for block in range(len(lengths)) if block not in held and lengths[block] <= left]
        scores, memory = judge(held, candidates), [*held]
        for block in sorted(candidates, key=lambda block: -scores[block]):
            if lengths[block] > left:
                break
            left -= lengths[block]
            memory.append(block)
        memory.sort()
        rehearsal = judge(memory, [])
        limit = len(memory) if more is None else len(held) + more
        held = sorted(sorted(memory, key=lambda block: -rehearsal[block])[:limit])
        if held == memory:
            break
    return held


@dataclass(frozen=True)
class Scorer:
    """The judge of 15.4: the score of a block is its own, ``alone``, plus ``given[block, other]`` for each other block
    that is held. Raises ValueError for anything but indices of blocks."""

    alone: list[float]
    given: dict[tuple[int, int], float]

    def __call__(self, held: Collection[int], candidates: Collection[int]) -> dict[int, float]:
        """Score of each block by its index."""
        if not {*held, *candidates} <= {*range(len(self.alone))}:
            raise ValueError("judge(held, candidates) takes two lists of block indices, but it was called with "
                             f"{held!r:.60} and {candidates!r:.60}")
        return {block: self.alone[block] + sum(self.given.get((block, other), 0.0) for other in held)
                for block in sorted({*held, *candidates})}


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 15.4: name → (judge, lengths, room, keep)."""
    def drawn(blocks: int, room: int, *keep: int | None) -> tuple[object, ...]:
        alone, lengths = rand(2, blocks, generator=rng).tolist()
        changes = (0.8 * rand(blocks, blocks, generator=rng) - 0.3).fill_diagonal_(0).tolist()
        given = {(block, other): change for block, row in enumerate(changes) for other, change in enumerate(row)}
        return Scorer(alone, given), [2 + int(4 * number) for number in lengths], room, keep

    return {
        "one round, which keeps one of two blocks": (Scorer([0.2, 0.9], {}), [3, 2], 9, (1,)),
        "a second hop": (Scorer([0.1, 0.3, 0.8, 0.4], {(0, 2): 0.75}), [3, 3, 3, 3], 6, (1, 1)),
        "two blocks with equal content": (Scorer([0.8, 0.3, 0.7], {(0, 2): -0.2, (2, 0): -0.5}), [2, 2, 2], 6, (2,)),
        "the first block decays in the second round": (Scorer(
            [0.6, 0.1, 0.5, 0.4], {(1, 0): 0.8, (3, 1): 0.4, (2, 1): 0.3, (0, 1): -0.4}), [2, 2, 2, 2], 6, (1, 1)),
        "the next block is too long": (Scorer([0.3, 0.9, 0.7, 0.6], {(0, 1): 0.5}), [2, 3, 4, 2], 6, (2, None)),
        "no block decays in the first of two rounds": (Scorer([0.9, 0.2, 0.8, 0.5], {}), [3, 2, 3, 4], 8, (2, 2)),
        "a block longer than the room left": (Scorer([0.9, 0.3, 0.5, 0.6], {(1, 0): 0.6}), [4, 5, 2, 3], 8, (1, 1)),
        "a block longer than the memory": (Scorer([0.4, 0.9, 0.6], {}), [2, 7, 3], 6, (3, None)),
        "None in the first of two rounds": (Scorer([0.9, 0.2, 0.7, 0.6], {}), [3, 2, 3, 3], 8, (None, 1)),
        "equal scores": (Scorer([0.5] * 4, {}), [2] * 4, 6, (1, 1)), "no room": (Scorer([0.5], {}), [2], 0, (3, None)),
        "equal in rehearsal": (Scorer([0.5, 0.625], {(0, 1): 0.25, (1, 0): 0.125}), [2, 2], 6, (1,)),
        "eleven blocks": drawn(11, 17, 2, 1, 1, None), "thirteen blocks": drawn(13, 23, 3, 2, 1),
    }


def changed_levels(
    levels: list[int], losses_without: list[float], loss: float, answer: int, up: float = 0.2, down: float = -0.05,
) -> list[int]:
    """The new relevance level of each block after an intervention, from the reasoner's losses.

    ``loss`` is the reasoner's loss on its input. ``losses_without[i]`` is its loss if no position can attend to block
    i. If that is higher than ``loss`` by ``up`` or more, the level of block i rises by 1. If it is lower by −``down``
    or more (``down`` is negative), the level falls by 1. A level never falls below −1 or rises above 2. Only the level
    of block ``answer``, which contains the answer, may be above 2; it does not change. Return a new list.
    """
    changed = list[int]()
    for block, level in enumerate(levels):
        difference = losses_without[block] - loss
        step = (difference >= up) - (difference <= down)
        changed.append(level if block == answer else min(max(level + step, -1), 2))
    return changed


def draw_interventions(rng: Generator) -> Probes:
    """Inputs for 15.5: name → (levels, losses without each block, loss, answer, up, down)."""
    def drawn(blocks: int) -> tuple[object, ...]:
        levels = [-1 + int(4 * number) for number in rand(blocks, generator=rng).tolist()]
        levels[blocks // 2] = 3
        losses = [round(0.4 + number, 3) for number in rand(blocks, generator=rng).tolist()]
        return levels, losses, 0.8, blocks // 2, 0.2, -0.05

    return {
        "one block is relevant, one is not": ([0, 0, 3], [1.3, 0.4, 2.5], 0.8, 2, 0.2, -0.05),
        "small differences": ([1, 0, 3, 1], [0.9, 0.77, 0.5, 0.7], 0.8, 2, 0.2, -0.05),
        "levels at the limits": ([2, -1, 3, 2, -1], [1.5, 0.2, 1.5, 0.2, 1.5], 0.7, 2, 0.2, -0.05),
        "differences equal to the thresholds": ([0, 0, 3, 0, 0], [1.25, 0.875, 1.0, 1.125, 0.75], 1.0, 2, 0.25, -0.125),
        "a large loss": ([1, 3, 1], [4.5, 4.1, 3.9], 4.2, 1, 0.2, -0.05),
        "a fall larger than the rise that is needed": ([1, 3, 1], [0.3, 0.3, 0.45], 0.6, 1, 0.2, -0.2),
        "the answer is in the only block": ([3], [2.0], 0.5, 0, 0.2, -0.05), "nine blocks": drawn(9),
        "the block with the answer has a level of 0": ([0, 0, 1], [1.5, 1.5, 0.2], 0.6, 0, 0.2, -0.05),
    }


EXERCISES = (
    Exercise(
        "15.1", "the scores of the blocks", block_scores, draw_judged,
        mistakes={
            "this is the sigmoid of the mean; average last": edit(".sigmoid()", "", "mean()", "mean().sigmoid()"),
            "this is the mean logit, which may be negative; apply the sigmoid first": edit(".sigmoid()", ""),
            "the outputs are summed; the score is their mean": edit(".mean()", ".sum()"),
            "the first block begins at position 0; it begins after the query": edit("query, list", "0, list"),
            "the outputs at [SEP] are left out": edit("begin + length]", "begin + length - 1]"),
            "[SEP] is counted twice; the lengths include it": edit("begin += length", "begin += length + 1"),
            "the output of a position is its softmax probability, not its sigmoid": edit("sigmoid()", "softmax(0)"),
            "the sum is divided by the length of the longest block": edit(".mean()", ".sum() / max(lengths)"),
            "the last block includes the padding":
                edit("begin + length]", "begin + length if len(scores) < len(lengths) - 1 else len(logits)]"),
        },
        hints=(
            "Suppose the query has 2 tokens, and the blocks have 3 and 4. At which positions does each block begin and "
            "end? Is the mean of σ(2) and σ(−4) equal to σ(−1)?",
            "Compute all outputs first. Block 0 begins at ``query``, every other block where the one before it ends.",
            "logits.sigmoid() is element-wise, x[begin:begin + length] is a slice, and float(….mean()) is its mean.",
        ),
    ),
    Exercise(
        "15.2", "the retrieval competition", competition, draw_competing,
        mistakes={
            "the competition continues after a block that does not fit; it should end": edit("break", "continue"),
            "the indices are in the order of rank, not in that of the text": edit("sorted(entered)", "entered"),
            "of equal scores, the later one ranks first": edit("-scores[block])", "(-scores[block], -block))"),
            "the block with the lowest score enters first: sorting is ascending by default": edit("-scores", "scores"),
            "a block that fits exactly is rejected": edit("> room", ">= room"),
            "each block is compared with the whole room, not with what is left": edit("room -= lengths[block]", "pass"),
            "a block that does not fit enters if any room is left": edit("lengths[block] > room", "room <= 0"),
            "the blocks enter in the order of the text, not by score": edit(", key=lambda block: -scores[block]", ""),
        },
        hints=(
            "Work through the third input on paper. Which blocks rank first and second? How much room is left after "
            "these two, and which block is next in rank?",
            "Sort the indices, not the scores. Go through them in the order of rank, and subtract the length of each "
            "block that enters from the room. Stop at the first block that does not fit.",
            "sorted(range(n), key=lambda i: -scores[i]) gives the indices by decreasing score, and ties in order.",
        ),
    ),
    Exercise(
        "15.3", "splitting at punctuation", split_blocks, draw_costs,
        mistakes={
            "each block is as long as possible (greedy); shorter blocks may have a lower total cost": greedy_split,
            "of equal costs, the longest last block is taken; take the shortest": edit("reversed(begins)", "begins"),
            "`block_cost` is not added for each block": edit(" + block_cost", ""),
            "the costs of the ends are not added": edit("costs[end - 1]", "(inf if costs[end - 1] == inf else 0)"),
            "the cost is that of the token before the last one": edit("costs[end - 1]", "costs[max(end - 2, 0)]"),
            "blocks have fewer than `longest` tokens": edit("end - longest, 0)", "min(end - longest + 1, end - 1), 0)"),
            "`longest` is ignored": edit("max(end - longest, 0)", "0"),
            "the blocks are in reverse order: the last one is found first": edit("insert(0, ", "append("),
        },
        hints=(
            "In the second input, a block may end after 2, 4 and 6 tokens. Which splits are there, and what is the "
            "total cost of each? Suppose the last block begins at 4: what must you know about the first 4 tokens?",
            "For each end, from left to right, compute the lowest total cost of the text up to there: the minimum over "
            "the possible begins of the last block. Remember the best begins, and follow them back from the last end.",
            "Let total[0] = 0, and append one number per end; ∞ plus a number is ∞. min(…, key=total.__getitem__) "
            "returns the first of several minima, and reversed(range(a, b)) begins with the largest number.",
        ),
    ),
    Exercise(
        "15.4", "MemRecall", mem_recall, draw_texts,
        mistakes={
            "blocks decay by the scores of the competition, not of the rehearsal": edit("judge(memory, [])", "scores"),
            "held blocks are lost when others enter; they stay until they decay": edit("[*held]", "list[int]()"),
            "each round keeps n blocks; it should keep n *more* than it began with": edit("len(held) + more", "more"),
            "held blocks compete again, and take up room twice":
                edit("block not in held and ", "", "memory.sort()", "memory = sorted({*memory})"),
            "held blocks never decay; they can": edit("-rehearsal[block]", "(block not in held, -rehearsal[block])"),
            "the competition ignores what is held, so that it finds no second hop": edit("judge(held,", "judge([],"),
            "the lengths of the held blocks are not subtracted": edit(" - sum(lengths[block] for block in held)", ""),
            "a block longer than the room left competes, and ends the round": edit(" and lengths[block] <= left", ""),
            "a round in which no block decays is not the last one": edit("held == memory", "False"),
            "of equal scores in rehearsal, the block that entered first ranks first": edit("memory.sort()", "pass"),
        },
        hints=(
            "Four blocks of 3 tokens have the scores 0.1, 0.3, 0.8 and 0.4, but block 0 has 0.85 if block 2 is held. "
            "There is room for 6. What does a first round keep that keeps 1, and which scores does the second one use?",
            "Write one round first: candidates, competition, rehearsal, decay. Call the judge twice, with the old "
            "memory and the candidates, and with the new memory alone. Remember how many blocks were held before.",
            "The competition is exercise 2, for the candidates alone. sorted(memory, key=lambda block: "
            "-scores[block])[:n] are the n best; sort them again by index.",
        ),
    ),
    Exercise(
        "15.5", "relevance without labels", changed_levels, draw_interventions,
        mistakes={
            "the difference has the wrong sign": edit("losses_without[block] - loss", "loss - losses_without[block]"),
            "the two thresholds are swapped": edit(">= up", ">= -down", "<= down", "<= -up"),
            "the levels are not limited to −1 … 2": edit("min(max(level + step, -1), 2)", "level + step"),
            "the level of the block with the answer changes; it should not": edit("level if block == answer else ", ""),
            "the level of the block with the answer is limited to 2; it should not change":
                edit("level if block == answer else ", "", "level + step", "level + step * (block != answer)"),
            "the difference is divided by the loss": edit("block] - loss", "block] / loss - 1"),
            "a difference equal to a threshold is ignored; it counts": edit(">= up", "> up", "<= down", "< down"),
            "the new level is the change alone; add it to the old level": edit("max(level + step", "max(step"),
            "`down` is negated; it is negative already": edit("<= down", "<= -down"),
            "the thresholds are ignored: every difference counts": edit(">= up", "> 0", "<= down", "< 0"),
        },
        hints=(
            "The loss is 0.8, and 1.3 without block 0. Is block 0 relevant? And block 1, without which it is 0.4?",
            "For each block, compare losses_without[i] − loss with both thresholds: the change is 1, −1 or 0.",
            "(a >= b) − (c <= d) is 1, −1 or 0, because True counts as 1. min(max(x, low), high) limits x.",
        ),
    ),
)
