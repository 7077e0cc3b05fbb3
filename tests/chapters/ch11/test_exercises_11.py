"""The solutions of chapter 11 against independent ones; other right ways are not refused, and slips are named."""

from itertools import product
from math import exp, inf, log, sqrt
from random import Random

import pytest
import torch
from torch.nn import functional as F

from plmlab.chapters.ch11 import exercises as right
from plmlab.chapters.ch11 import exercises_scores as scores
from plmlab.exercises import check
from plmlab.interpret import watch
from plmlab.layers.attention import RelativePositions
from plmlab.layers.relative import XLNetAttention
from plmlab.objectives import masked_and_permuted, permuted
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(1000)


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


# The solutions

def test_the_masks_are_those_of_the_papers_figure() -> None:
    """Yang et al. 2019, fig. 1 (c): the order 3 → 2 → 4 → 1."""
    content, query = right.order_masks([2, 1, 3, 0])
    assert content.int().tolist() == [[1, 1, 1, 1], [0, 1, 1, 0], [0, 0, 1, 0], [0, 1, 1, 1]]
    assert query.int().tolist() == [[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0]]


@pytest.mark.parametrize("order", [[3, 0, 2, 1], [4, 2, 0, 5, 1, 3], [5, 6, 0, 1, 2, 4, 3]])
def test_the_masks_are_the_objectives(order: list[int]) -> None:
    words = range(100, 98 + len(order))
    example = permuted(words, vocab=VOCAB, rng=Random(0), order=order, predict=[0])
    content, query = right.order_masks(order)
    assert torch.equal(content, example.visible.dense()) and torch.equal(query, example.query_stream_mask.dense())


def table(first: int, second: int) -> list[list[float]]:
    """The probability of each pair, nothing else."""
    return draw(first, second).mul(2).flatten().softmax(0).view(first, second).tolist()


@pytest.mark.parametrize(("first", "second"), [(2, 2), (3, 5), (6, 2), (1, 4)])
def test_what_both_pay_is_what_a_table_of_all_pairs_says(first: int, second: int) -> None:
    joint = table(first, second)
    cells = [p for row in joint for p in row]
    one, other = [sum(row) for row in joint], [sum(column) for column in zip(*joint, strict=True)]
    pairs = list(product(range(first), range(second)))
    then = torch.tensor([[p / sum(row) for p in row] for row in joint]).log()
    dearer = 0.0
    for a, b in pairs:
        bert, xlnet, apart, together = right.two_masked_words(torch.tensor(one).log(), then, (a, b))
        assert bert == pytest.approx(-log(one[a] * other[b]), abs=1e-5)
        assert xlnet == pytest.approx(-log(joint[a][b]), abs=1e-5)
        assert apart == max(pairs, key=lambda pair: one[pair[0]] * other[pair[1]])
        assert together == max(pairs, key=lambda pair: joint[pair[0]][pair[1]])
        dearer += joint[a][b] * (bert - xlnet)
    entropies = [-sum(p * log(p) for p in ps) for ps in (one, other, cells)]
    assert dearer == pytest.approx(entropies[0] + entropies[1] - entropies[2], abs=1e-5), "the mutual information"


def test_the_streams_are_those_of_the_fused_attention() -> None:
    for h, g, content, query in right.draw_streams(torch.Generator().manual_seed(3)).values():
        fused = (F.scaled_dot_product_attention(q, h, h, mask) for q, mask in ((h, content), (g, query)))
        for mine, theirs in zip(right.two_stream_attention(h, g, content, query), fused, strict=True):
            torch.testing.assert_close(mine, theirs)


def test_no_word_reaches_its_own_query_through_three_layers() -> None:
    """Position i's word is changed: the query streams of i and of all that is said before stay the same, the others do
    not."""
    order = [3, 0, 4, 2, 1]
    content, query = right.order_masks(order)

    def answers(h: torch.Tensor) -> torch.Tensor:
        g = draw(1, 4).expand(5, -1)
        for _ in range(3):
            h, g = right.two_stream_attention(h, g, content, query)
        return g

    for t, position in enumerate(order):
        h = draw(5, 4)
        changed = h.clone()
        changed[position] += 1
        same = torch.isclose(answers(h), answers(changed)).all(1)
        assert [bool(same[i]) for i in order] == [True] * (t + 1) + [False] * (4 - t)


@pytest.mark.parametrize(("key", "positions"), [(1, [0]), (4, [0, 1, 2, 3]), (6, [5, 0, 2, 2]), (3, [1, 2, 0, 2, 1])])
def test_a_key_has_the_number_of_its_distance(key: int, positions: list[int]) -> None:
    """A number says its row and its distance; and the layer takes the same."""
    distances = range(key - 1, -key, -1)
    told = torch.tensor([[100.0 * n + d for d in distances] for n in range(len(positions))])
    expected = [[100.0 * n + i - j for j in range(key)] for n, i in enumerate(positions)]
    found = scores.relative_shift(told, torch.tensor(positions))
    assert found.tolist() == expected
    relation = RelativePositions(torch.ones(1, len(positions), key).bool(), torch.tensor([positions]))
    assert torch.equal(XLNetAttention(2, 1).shift(told[None, None], key, relation)[0, 0], found)


def segments_by_hand(q, s, b, query_segments, key_segments):
    """Cell by cell, as the docstring says it."""
    out = torch.zeros(len(q), len(query_segments), len(key_segments))
    for n, i, j in product(*map(range, out.shape)):
        out[n, i, j] = (q[n, i] + b[n]) @ s[int(query_segments[i] != key_segments[j]), n]
    return out


@torch.no_grad()
def test_the_segments_scores_are_the_layers() -> None:
    layer = XLNetAttention(12, 3)
    layer.segments.copy_(draw(2, 3, 4))
    layer.segment_bias.copy_(draw(3, 4))
    query_segments, key_segments = torch.tensor([0, 1, 1, 2, 0]), torch.tensor([0, 0, 0, 1, 1, 1, 2])
    q, k = draw(1, 3, 5, 4), draw(1, 3, 7, 4)
    with watch(layer) as seen:
        layer.score(q, k, RelativePositions((query_segments[:, None] == key_segments)[None]))
    mine = scores.segment_scores(q[0], layer.segments, layer.segment_bias, query_segments, key_segments)
    torch.testing.assert_close(mine / 2, seen["by_segment"][0])
    torch.testing.assert_close(
        mine, segments_by_hand(q[0], layer.segments, layer.segment_bias, query_segments, key_segments))


@pytest.mark.parametrize("predict", [[1], [4, 2], [6, 1, 3, 2], [2, 3, 4]])
def test_what_mpnets_queries_see_is_the_objectives(predict: list[int]) -> None:
    example = masked_and_permuted(range(100, 106), vocab=VOCAB, rng=Random(0), predict=predict)
    time = len(example.tokens) - len(predict)
    mine = right.mpnet_mask(time, predict)
    assert torch.equal(mine, example.query_stream_mask.dense()[time:])
    places = [sorted(example.position_ids[0][row].tolist()) for row in mine]
    assert places == [list(range(time))] * len(predict), "each position once"


# Other right ways, and slips, as people write them

def filled(content=lambda order, t: order[:t + 1], query=lambda order, t: order[:t]):
    """A table of False, and in each turn's row the columns that become True."""
    def answer(order):
        masks = torch.zeros(2, len(order), len(order), dtype=torch.bool)
        for t, position in enumerate(order):
            masks[0, position, content(order, t)] = True
            masks[1, position, query(order, t)] = True
        return masks[0], masks[1]
    return answer


def picked(order):
    rank = [order.index(position) for position in range(len(order))]
    content = torch.ones(len(order), len(order), dtype=torch.bool).tril()[rank][:, rank]
    return [content, content & ~torch.eye(len(order)).bool()]


def compared(times):
    def answer(order):
        rank = times(torch.tensor(order))
        return rank.unsqueeze(1) >= rank.unsqueeze(0), rank.unsqueeze(1) > rank.unsqueeze(0)
    return answer


def triangles(order):
    ones = torch.ones(len(order), len(order), dtype=torch.bool)
    return torch.tril(ones), torch.tril(ones, diagonal=-1)


def order_in_place(order):
    masks = right.order_masks(order)
    order.sort()
    return masks


def pair_by_loops(first, then, said):
    joint = {(a, b): exp(first[a]) * exp(then[a, b]) for a in range(len(first)) for b in range(then.shape[1])}
    second = [sum(joint[a, b] for a in range(len(first))) for b in range(then.shape[1])]
    apart = max(joint, key=lambda pair: exp(first[pair[0]]) * second[pair[1]])
    return -log(exp(first[said[0]]) * second[said[1]]), -log(joint[said]), apart, max(joint, key=joint.__getitem__)


def pair_by_tensors(first, then, said):
    joint = first.exp().unsqueeze(1) * then.exp()
    bert = torch.outer(first.exp(), first.exp() @ then.exp())
    together = torch.unravel_index(joint.argmax(), joint.shape)
    return [-bert[said].log(), -joint[said].log(), torch.unravel_index(bert.argmax(), bert.shape), list(together)]


def pair(second=lambda joint, then: joint.logsumexp(0), cell=lambda joint: (joint.amax(1).argmax(),
                                                                            joint.amax(0).argmax())):
    def answer(first, then, said):
        joint = first.unsqueeze(1) + then
        marginal = second(joint, then)
        return (-(first[said[0]] + marginal[said[1]]), -joint[said], (first.argmax(), marginal.argmax()), cell(joint))
    return answer


def pair_with_a_beam_of_one(first, then, said):
    best = int(first.argmax())
    return *right.two_masked_words(first, then, said)[:3], (best, int(then[best].argmax()))


def streams_fused(h, g, content, query):
    return (F.scaled_dot_product_attention(h, h, h, attn_mask=content),
            F.scaled_dot_product_attention(g, h, h, attn_mask=query))


def streams_row_by_row(h, g, content, query):
    out = []
    for rows, masks in ((h, content), (g, query)):
        new = torch.zeros_like(rows)
        for i, (row, mask) in enumerate(zip(rows, masks, strict=True)):
            if mask.any():
                new[i] = ((h[mask] @ row) / sqrt(len(row))).softmax(0) @ h[mask]
        out.append(new)
    return tuple(out)


def streams_in_one(then=lambda weights, mask: weights * mask, low=-1e9):
    """As the layer has it: the query stream is some more queries."""
    def answer(h, g, content, query):
        attn_mask = torch.cat([content, query])
        scores = (torch.cat([h, g]) @ h.T / h.size(-1) ** 0.5).masked_fill(~attn_mask, low)
        return (then(torch.softmax(scores, -1), attn_mask) @ h).split([len(h), len(g)])
    return answer


def overwritten(h, g, content, query):
    h = F.scaled_dot_product_attention(h, h, h, content)
    g = F.scaled_dot_product_attention(g, h, h, query)
    return h, g


def keys_in_loops(column=lambda i, j, key: key - 1 - (i - j)):
    def answer(x, positions):
        key = (x.shape[1] + 1) // 2
        return torch.tensor([[x[n, column(i, j, key)] for j in range(key)] for n, i in enumerate(positions.tolist())])
    return answer


def keys_by_slices(x, positions):
    key = x.shape[1] // 2 + 1
    return torch.stack([row[key - 1 - i:2 * key - 1 - i] for row, i in zip(x, positions.tolist(), strict=True)])


def keys_by_roll(x, positions):
    key = (x.shape[1] + 1) // 2
    return torch.stack([row.roll(int(i) - key + 1)[:key] for row, i in zip(x, positions, strict=True)])


def the_shift(x, positions):
    query, width = x.shape
    return F.pad(x, (1, 0)).view(width + 1, query)[1:].reshape(query, width)[:, :(width + 1) // 2]


def looking_back(x, positions):
    key = (x.shape[1] + 1) // 2
    back = positions[:, None] - torch.arange(key)
    return torch.where(back >= 0, x.gather(1, key - 1 - back), 0)


def segments_as_the_authors(q, s, b, query_segments, key_segments):
    pairs = F.one_hot((query_segments[:, None] != key_segments[None]).long(), num_classes=2).float()
    return torch.einsum("ijs,nis->nij", pairs, torch.einsum("nid,snd->nis", q + b[:, None], s))


def segments(pick=lambda a, b: (a[:, None] != b[None]).long(), bias=lambda q, b: q + b[:, None]):
    return lambda q, s, b, query_segments, key_segments: torch.einsum(
        "hqw,qkhw->hqk", bias(q, b), s[pick(query_segments, key_segments)])


def only_the_same(q, s, b, query_segments, key_segments):
    same = (query_segments[:, None] == key_segments).float()
    return ((q + b[:, None]) * s[0][:, None]).sum(-1, keepdim=True) * same


def mpnet_in_loops(time, predict):
    mask = torch.zeros(len(predict), time + len(predict), dtype=torch.bool)
    for t in range(len(predict)):
        for position in range(time):
            mask[t, position] = position not in predict or predict.index(position) < t
        mask[t, time + t:] = True
    return mask


def mpnet(hide=lambda predict, t: predict[t:], masks=torch.triu):
    def answer(time, predict):
        words = torch.ones(len(predict), time, dtype=torch.bool)
        for t in range(len(predict)):
            words[t, hide(predict, t)] = False
        return torch.cat([words, masks(torch.ones(len(predict), len(predict), dtype=torch.bool))], dim=1)
    return answer


@pytest.mark.parametrize(("number", "answer"), [
    ("11.1", filled()), ("11.1", picked), ("11.1", compared(torch.argsort)),
    ("11.2", pair_by_loops), ("11.2", pair_by_tensors), ("11.2", pair()),
    ("11.3", streams_fused), ("11.3", streams_row_by_row), ("11.3", streams_in_one()),
    ("11.4", keys_in_loops()), ("11.4", keys_by_slices), ("11.4", keys_by_roll),
    ("11.5", segments_by_hand), ("11.5", segments_as_the_authors), ("11.5", segments()),
    ("11.6", mpnet_in_loops), ("11.6", mpnet()),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("11.1", compared(lambda order: order), "s treated as the step at which position t is predicted; it is"),
    ("11.1", triangles, "left-to-right masks, whatever the order"),
    ("11.1", filled(lambda order, t: slice(t + 1), lambda order, t: slice(t)), "nly the rows are permuted"),
    ("11.1", order_in_place, "`order` is changed in place"),
    ("11.2", pair(second=lambda joint, then: then.logsumexp(0)), "as the sum of p(b | a) over a"),
    ("11.2", pair(cell=lambda joint: divmod(joint.argmax().item(), len(joint))), "ivided by the number of rows"),
    ("11.2", pair_with_a_beam_of_one, "LNet's best pair starts with the most probable first word"),
    ("11.3", overwritten, "attends to the updated h"),
    ("11.3", streams_in_one(lambda weights, mask: weights, low=-inf), "row with no visible key is NaN"),
    ("11.3", streams_in_one(lambda weights, mask: weights, low=torch.finfo().min), "is the mean of everything"),
    ("11.4", keys_in_loops(lambda i, j, key: i - j), "distance is used as the column"),
    ("11.4", the_shift, "treated as the last of the keys"), ("11.4", looking_back, "ater keys have 0"),
    ("11.5", segments(pick=lambda a, b: (a[:, None] == b[None]).long()), "and s₋ are swapped"),
    ("11.5", segments(bias=lambda q, b: q + b), "dded along the queries"),
    ("11.5", only_the_same, "airs in different segments have 0"),
    ("11.6", mpnet(hide=lambda predict, t: predict[t + 1:]), "its own word as well as its mask"),
    ("11.6", mpnet(masks=lambda ones: ones), "ll masks are visible; once"),
    ("11.6", lambda time, predict: mpnet()(time, sorted(predict)), "ows and masks are in text order"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


def order_other_than(change):
    return lambda order: change(*right.order_masks(order))


def mpnet_other_than(change):
    return lambda time, predict: change(right.mpnet_mask(time, predict).clone(), time, predict)


def cell(mask, row, column, value):
    mask[row, column] = value
    return mask


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("11.1", order_other_than(lambda content, query: (query, content)), "correct parts, but in reverse order"),
    ("11.1", order_other_than(lambda content, query: (content, cell(query, 0, 0, True))), "an attend to itself"),
    ("11.1", order_other_than(lambda content, query: (cell(content, -1, -1, False), query)), "not attend to itself"),
    ("11.1", order_other_than(lambda content, query: (cell(content, 0, -1, True), query)), "outside the diagonal"),
    ("11.1", lambda order: (torch.ones(len(order), len(order)).bool(), ~torch.eye(len(order)).bool()),
     "wo positions attend to each other"),
    ("11.1", lambda order: right.order_masks(order[1:] + order[:1]), "does not attend to t positions"),
    ("11.2", lambda *args: right.two_masked_words(*args)[0], "4 values were expected"),
    ("11.2", lambda *args: (1.0, *right.two_masked_words(*args)[1:]), "art 1 of the output, yours is 1.0"),
    ("11.2", lambda *args: (*right.two_masked_words(*args)[:3], right.two_masked_words(*args)[3][::-1]),
     "art 1 of part 4 of the output, yours is 2, expected 1"),
    ("11.3", lambda h, g, content, query: (
        (new := right.two_stream_attention(h, g, content, query))[0],
        torch.where(query.any(1, keepdim=True), new[1], g)),
     "row with no visible key is"),
    ("11.3", lambda h, g, content, query: (
        right.two_stream_attention(h, g, content, query)[0], g * query.any(1)[:, None]),
     "next g is outside"),
    ("11.3", lambda h, g, content, query: (3 * h, right.two_stream_attention(h, g, content, query)[1]),
     "next h is outside"),
    ("11.4", lambda x, positions: scores.relative_shift(2 * x, positions), "does not have the entry of distance 0"),
    ("11.4", lambda x, positions: scores.relative_shift(x, positions)
     + (torch.arange((x.shape[1] + 1) // 2) != positions[:, None]) * 0.5,
     "an entry of another row"),
    ("11.5", lambda q, s, b, *segments: scores.segment_scores(q, s, 2 * b, *segments), "does not have (q + b)·s₊"),
    ("11.5", lambda q, s, b, *segments: scores.segment_scores(q, torch.stack([s[0], 2 * s[1]]), b, *segments),
     "does not have (q + b)·s₋"),
    ("11.6", mpnet_other_than(lambda mask, time, predict: cell(mask, 0, predict[0], True)), "attend to its target"),
    ("11.6", mpnet_other_than(lambda mask, time, predict: cell(mask, -1, -1, False)), "cannot attend to its own mask"),
    ("11.6", mpnet_other_than(lambda mask, time, predict: cell(mask, -1, 1 if 1 not in predict else 0, False)
                              if len(predict) == 3 else mask), "not predicted is hidden"),
    ("11.6", mpnet_other_than(lambda mask, time, predict: cell(mask, 0, predict[-1], len(predict) > 1)),
     "exactly one token per position"),
])
def test_what_is_wrong_is_said_where_no_mistake_names_it(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and not feedback.mistake and words in repr(feedback), feedback
