"""The solutions of chapter 10 against independent ones; and other right ways are not refused."""

from itertools import pairwise
from math import exp, log, sqrt

import pytest
import torch
from torch.nn import functional as F

from plmlab.chapters.ch10 import exercises as right
from plmlab.exercises import check
from plmlab.layers.memory import Memory
from plmlab.layers.relative import TransformerXLAttention
from plmlab.layers.relative import relative_shift as shifted
from plmlab.visibility import Visibility
from studies.ch10.effective_length import LEAST, effective_lengths


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


# The solutions

@pytest.mark.parametrize("max_length", [0, 1, 3, 4, 9])
def test_what_is_remembered_is_what_the_model_remembers(max_length: int) -> None:
    """Over segments of several lengths; the last is longer than the memory."""
    theirs, mine = Memory(max_length), torch.zeros(2, 0, 6)
    for new in (1, 3, 2, 4):
        h = draw(2, new, 6)
        extended, after = right.update_memory(mine, h, max_length)
        assert torch.equal(extended, torch.cat([mine, h], 1))
        assert torch.equal(extended, theirs.extend(h)) and torch.equal(after, theirs.states)
        mine = after


def test_a_gradient_flows_into_the_segment_and_not_into_the_memory() -> None:
    memory, h = draw(2, 3, 4).requires_grad_(), draw(2, 2, 4).requires_grad_()
    extended, after = right.update_memory(memory, h, 4)
    flows = torch.autograd.grad(extended.square().sum(), (memory, h), allow_unused=True)
    assert flows[0] is None and torch.equal(flows[1], 2 * h) and not after.requires_grad


def scores_by_hand(q, k, r, u, v):
    """Cell by cell, as the docstring says it."""
    (heads, queries, width), keys = q.shape, k.shape[1]
    out = torch.zeros(heads, queries, keys)
    for head in range(heads):
        for row in range(queries):
            i = keys - queries + row
            for j in range(i + 1):
                distance = r[head, keys - 1 - (i - j)]
                terms = (q[head, row] @ k[head, j], q[head, row] @ distance, u[head] @ k[head, j], v[head] @ distance)
                out[head, row, j] = sum(terms) / sqrt(width)
    return out


SIZES = pytest.mark.parametrize(("query", "key"), [(1, 1), (1, 5), (4, 4), (3, 7), (6, 8)])


@SIZES
def test_the_scores_are_the_four_terms(query: int, key: int) -> None:
    given = draw(3, query, 5), draw(3, key, 5), draw(3, key, 5) + 1, draw(3, 5), draw(3, 5) - 1
    torch.testing.assert_close(right.scores(*given), scores_by_hand(*given))


@SIZES
@torch.no_grad()
def test_the_scores_are_the_layers(query: int, key: int) -> None:
    layer = TransformerXLAttention(12, 3)
    for number, parameter in enumerate(layer.parameters()):
        parameter.copy_(0.5 * draw(*parameter.shape) + number / 10)
    q, k = draw(1, 3, query, 4), draw(1, 3, key, 4)
    mine = right.scores(q[0], k[0], layer.relative_keys(key), layer.content_bias, layer.position_bias)
    torch.testing.assert_close(mine, layer.score(q, k)[0].tril(key - query))


@SIZES
def test_the_shift_is_a_gather_and_the_layers(query: int, key: int) -> None:
    table = draw(query, key)
    mine = right.relative_shift(table)
    torch.testing.assert_close(mine, shift_by_gather(table))
    torch.testing.assert_close(mine, shifted(table, key).tril(key - query))


@pytest.mark.parametrize(("segment", "memory"), [(4, 3), (4, 4), (3, 7), (5, 0), (1, 2), (6, 1), (7, 12)])
def test_the_farthest_position_is_that_of_the_mask_taken_to_a_power(segment: int, memory: int) -> None:
    time = 40
    looks = Visibility.segmented(time, segment, memory).dense().float()
    heard = torch.eye(time)
    for layers in range(5):
        first = heard.argmax(-1).tolist()
        assert [right.receptive_field_start(position, layers, segment, memory) for position in range(time)] == first
        heard = ((heard @ looks) > 0).float()


def test_the_gain_of_a_context_that_halves_the_perplexity_is_a_half() -> None:
    """The third target is the hardest, for 8 is the least that any pays. The other two do not count."""
    short, long = torch.tensor([[2.0, 16.0, 8.0], [4.0, 3.0, 32.0]]).log(), torch.tensor([1.0, 1.0, 4.0]).log()
    assert right.relative_gain(short, long, 0.33) == pytest.approx(0.5)
    assert right.relative_gain(short, long, 1.0) == pytest.approx(1 - (1 * 1 * 4 / (2 * 3 * 8)) ** (1 / 3))
    assert right.relative_gain(short, long + log(100), 1.0) == 0


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_an_effective_length_ends_where_the_gain_is_too_small(share: float) -> None:
    contexts, rng = (16, 32, 48, 64), torch.Generator().manual_seed(1)
    told = {name: {context: 3 - 0.004 * context * pull + 0.05 * torch.randn(40, generator=rng) for context in contexts}
            for name, pull in (("far", 3.0), ("near", 0.5), ("deaf", 0.0))}
    found = effective_lengths(told, share)
    for name, mine in told.items():
        small = [short for short, long in pairwise(contexts) if right.relative_gain(
            torch.stack([one[short] for one in told.values()]), mine[long], share) < LEAST]
        assert found[name] == (small or contexts[-1:])[0]
    assert len(set(found.values())) > 1


@pytest.mark.parametrize(("query", "memory"), [(1, 1), (4, 1), (1, 5), (3, 3), (6, 2), (2, 9)])
def test_the_mask_of_the_same_length_is_that_of_the_last_positions(query: int, memory: int) -> None:
    mask = right.same_length(query, memory)
    assert torch.equal(mask, Visibility.last(memory + query, memory).dense()[memory:])
    assert [row.nonzero().flatten().tolist() for row in mask] == [
        list(range(i + 1, i + memory + 1)) for i in range(query)]


# Other right ways

def update_as_the_authors(memory, h, max_length):
    with torch.no_grad():
        end = memory.size(1) + h.size(1)
        kept = torch.cat([memory, h], dim=1)[:, max(0, end - max_length):end].detach()
        before = memory.clone()
    return torch.cat([before, h], dim=1), kept


def update_by_cases(memory, h, max_length):
    extended = torch.hstack([memory.data, h])
    return [extended, extended[:, -max_length:].detach() if max_length else h[:, :0].detach()]


def scores_term_by_term(q, k, r, u, v):
    u, v = u.unsqueeze(1).expand_as(q), v.unsqueeze(1).expand_as(q)
    by_key = [torch.einsum("hqw,hkw->hqk", x, k).tril(k.shape[1] - q.shape[1]) for x in (q, u)]
    by_distance = [torch.stack(list(map(right.relative_shift, x @ r.transpose(1, 2)))) for x in (q, v)]
    return sum(by_key + by_distance) / sqrt(q.shape[-1])


def shift_by_gather(by_distance):
    query, key = by_distance.shape
    columns = torch.arange(key) + torch.arange(query - 1, -1, -1)[:, None]
    return by_distance.gather(1, columns.clamp(max=key - 1)).masked_fill(columns >= key, 0)


def shift_as_the_authors(by_distance):
    query, key = by_distance.shape
    padded = F.pad(by_distance, (1, 0)).view(key + 1, query)
    return padded[1:].view_as(by_distance) * torch.tril(torch.ones(query, key), key - query)


def farthest_by_recursion(position, layers, segment, memory):
    if layers == 0 or position < 0:
        return max(position, 0)
    return farthest_by_recursion(position - position % segment - memory, layers - 1, segment, memory)


def gain_by_sorting(short, long, share):
    baseline = [min(column) for column in zip(*short.tolist(), strict=True)]
    hard = sorted(range(len(baseline)), key=lambda t: -baseline[t])[:max(1, round(share * len(baseline)))]
    before = sum(baseline[t] for t in hard) / len(hard)
    after = sum(min(baseline[t], float(long[t])) for t in hard) / len(hard)
    return (exp(before) - exp(after)) / exp(before)


def length_by_comparing(query, memory):
    i, j = torch.arange(query)[:, None] + memory, torch.arange(query + memory)
    return (j <= i) & (i - j < memory)


@pytest.mark.parametrize(("number", "answer"), [
    ("10.1", update_as_the_authors), ("10.1", update_by_cases),
    ("10.2", scores_by_hand), ("10.2", scores_term_by_term),
    ("10.3", shift_by_gather), ("10.3", shift_as_the_authors),
    ("10.4", farthest_by_recursion),
    ("10.5", gain_by_sorting),
    ("10.6", length_by_comparing),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Slips, as people write them

def rolling(memory, h, max_length):
    """A buffer that is written over."""
    extended = torch.cat([memory.detach(), h], 1)
    kept = extended[:, max(0, extended.shape[1] - max_length):].detach()
    if kept.shape == memory.shape:
        memory.data.copy_(kept)
    return extended, kept


def remembering(cut):
    def answer(memory, h, max_length):
        extended = torch.cat([memory.detach(), h], dim=1)
        return extended, cut(extended, max_length).detach()
    return answer


def earlier(x):
    return x.tril(x.shape[-1] - x.shape[-2])


def unshifted(q, k, r, u, v):
    return earlier(((q + u[:, None]) @ k.mT + (q + v[:, None]) @ r.mT) / q.shape[-1] ** 0.5)


def by_row_numbers(q, k, r, u, v):
    """The queries counted from 0, as if there were no memory."""
    out, key = torch.zeros(len(q), q.shape[1], k.shape[1]), k.shape[1]
    for i in range(q.shape[1]):
        for j in range(i + 1):
            far = r[:, key - 1 - (i - j)]
            out[:, i, j] = ((q[:, i] + u) * k[:, j] + (q[:, i] + v) * far).sum(-1)
    return out / q.shape[-1] ** 0.5


def divided_twice(q, *rest):
    return right.scores(q, *rest) * q.shape[-1] ** 0.5 / q.shape[-1] ** 1 / 2


def by_view(pad=(1, 0), cover=earlier):
    return lambda x: cover(F.pad(x, pad).view(x.shape[1] + 1, x.shape[0])[1:].view_as(x))


def stepping(step, floor=0):
    def answer(position, layers, segment, memory):
        for _ in range(layers):
            position = max(floor, step(position, segment, memory))
        return position
    return answer


def gain(cap=torch.minimum, descending=True, measure=lambda f, after: 1 - (after.mean() - f.mean()).exp()):
    def answer(short, long, share):
        base = short.min(0).values
        hard = base.argsort(descending=descending)[:max(1, round(share * len(base)))]
        return float(measure(base[hard], cap(base, long)[hard]))
    return answer


def compared(look):
    return lambda query, memory: look(torch.arange(query)[:, None], torch.arange(memory + query), memory)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("10.1", remembering(lambda x, max_length: x[:, -max_length:]), "`max_length` = 0 keeps everything"),
    ("10.1", remembering(lambda x, max_length: x[:, x.size(1) - max_length:]), "the start of the slice is negative"),
    ("10.1", rolling, "`memory` is changed in place"),
    ("10.2", unshifted, "he relative shift is missing"), ("10.2", by_row_numbers, "and mask ignore the memory"),
    ("10.2", divided_twice, "by the width and by 2"),
    ("10.3", by_view(cover=lambda x: x), "entries of the next row"),
    ("10.3", by_view((0, 1)), "are the zeros after the rows"),
    ("10.3", lambda x: earlier(torch.stack([row.roll(-i) for i, row in enumerate(x)])), "ow i is shifted by i columns"),
    ("10.4", stepping(lambda position, segment, memory: position / segment * segment - memory),
     "nly the memory counts"),
    ("10.4", stepping(lambda position, segment, memory: position - position % segment - memory, floor=-999),
     "he result is negative"),
    ("10.4", lambda position, layers, segment, memory: max(0, position // segment * segment - layers * memory),
     "nly the first layer reaches"),
    ("10.5", gain(descending=False), "he easiest targets"),
    ("10.5", gain(cap=lambda base, long: long), "may exceed the baseline"),
    ("10.5", gain(measure=lambda f, after: 1 - after.exp().mean() / f.exp().mean()), "erplexities are averaged"),
    ("10.6", compared(lambda i, j, memory: (j <= i + memory) & (j >= i)), "can attend to memory + 1 positions"),
    ("10.6", compared(lambda i, j, memory: (j <= i) & (j > i - memory)), "uery i is treated as key i; the memory"),
    ("10.6", compared(lambda i, j, memory: j <= i + memory), "ll of the memory is visible"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


def with_gradients(join, after):
    def answer(memory, h, max_length):
        extended = join(memory, h)
        return extended, after(extended[:, max(0, extended.shape[1] - max_length):])
    return answer


@pytest.mark.parametrize(("answer", "words"), [
    (with_gradients(lambda *two: torch.cat(two, 1), torch.detach), "gradient flows back into the memory"),
    (with_gradients(lambda *two: torch.cat(two, 1).detach(), torch.clone), "o gradient flows back into the segment"),
    (with_gradients(lambda memory, h: torch.cat([memory.detach(), h], 1), torch.clone), "through the next memory"),
])
def test_a_gradient_that_goes_astray_is_told_though_all_numbers_are_right(answer, words: str) -> None:
    feedback = check("10.1", answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("10.1", lambda *args: (1 + right.update_memory(*args)[0], right.update_memory(*args)[1]),
     "is not the memory followed by "),
    ("10.1", lambda *args: (right.update_memory(*args)[0], 1 + right.update_memory(*args)[1]),
     "is not the last positions"),
    ("10.2", lambda q, k, r, u, v: right.scores(q, k, r, u, 2 * v), "ven the last query, which needs no shift"),
    ("10.2", lambda *args: right.scores(*args) * torch.arange(1, args[0].shape[1] + 1)[:, None] / args[0].shape[1],
     "he last query is correct, but another one is wrong"),
    ("10.2", lambda *args: right.scores(*args).clamp(max=-1e9), "has a score other than 0"),
    ("10.3", lambda x: right.relative_shift(x) + 1e4 * torch.ones_like(x).triu(x.shape[1] - x.shape[0] + 1),
     " key after the query is not 0"),
    ("10.3", lambda x: torch.cat([right.relative_shift(x)[:-1], x[-1:] + 1]), "he last row has changed"),
    ("10.3", lambda x: torch.cat([right.relative_shift(x)[:-1] * 3, x[-1:]]), "an entry of another row"),
    ("10.6", lambda query, memory: torch.ones(query, memory + query).bool().tril(memory + 2), "to a later position"),
    ("10.6", lambda query, memory: torch.ones(query, memory + query).bool().triu(memory).tril(memory),
     "ot every query can attend to `memory` positions"),
    ("10.6", lambda query, memory: torch.zeros(query, memory + query).bool(), "query cannot attend to itself"),
])
def test_what_must_hold_is_said_of_an_answer_that_no_list_foresees(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and not feedback.mistake and words in repr(feedback), feedback
