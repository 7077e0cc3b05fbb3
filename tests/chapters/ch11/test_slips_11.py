"""Slips that people make in the exercises of chapter 11, written as they write them: each is named as what it is."""

from math import inf

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check

# 11.1

def filled(content=lambda order, t: (order[t], order[:t + 1]), query=lambda order, t: (order[t], order[:t])):
    """A table of False, and of each turn a row and the columns that become True."""
    def answer(order):
        masks = torch.zeros(2, len(order), len(order), dtype=torch.bool)
        for t in range(len(order)):
            for mask, cells in zip(masks, (content, query), strict=True):
                row, columns = cells(order, t)
                mask[row, columns] = True
        return masks[0], masks[1]
    return answer


def compared(rank=lambda order: order.argsort(), content=torch.le, query=torch.lt):
    """Times of the keys in a row, those of the queries in a column."""
    def answer(order):
        times = rank(torch.tensor(order))
        return content(times[None, :], times[:, None]), query(times[None, :], times[:, None])
    return answer


def triangles(order):
    ones = torch.ones(len(order), len(order), dtype=torch.bool)
    return torch.tril(ones), torch.tril(ones, diagonal=-1)


# 11.2

def pair(second=lambda first, joint, then: torch.logsumexp(joint, 0), cell=lambda joint: divmod(
        int(joint.argmax()), joint.shape[1]), price=lambda logp: -logp.item(), beam=lambda joint, first, then: joint):
    def answer(first, then, said):
        joint = first.unsqueeze(1) + then
        marginal = second(first, joint, then)
        return (price(first[said[0]] + marginal[said[1]]), price(joint[said]),
                (first.argmax().item(), marginal.argmax().item()), cell(beam(joint, first, then)))
    return answer


def pair_with(change):
    return lambda first, then, said: change(first, then, said, *pair()(first, then, said))


# 11.3

def attend(q, k, v, mask, hide=lambda scores, mask: scores.masked_fill(~mask, -inf), scale=lambda k: k.shape[-1] ** 0.5,
           dim=-1, then=torch.nan_to_num):
    return then(torch.softmax(hide(q @ k.transpose(0, 1) / scale(k), mask), dim=dim)) @ v


def streams(**options):
    return lambda h, g, content, query: (attend(h, h, h, content, **options), attend(g, h, h, query, **options))


def overwritten(h, g, content, query):
    h = attend(h, h, h, content)
    g = attend(g, h, h, query)
    return h, g


def nan_left_in(h, g, content, query):
    weights = [((q @ h.T) / h.shape[1] ** 0.5).masked_fill(~mask, -inf).softmax(-1)
               for q, mask in ((h, content), (g, query))]
    return weights[0] @ h, weights[1] @ h


def streams_by(weights):
    def answer(h, g, content, query):
        return tuple(weights(q @ h.T / h.shape[1] ** 0.5, mask) @ h for q, mask in ((h, content), (g, query)))
    return answer


def masked_behind_exp(scores, mask):
    e = torch.exp(scores) * mask
    return e / e.sum(-1, keepdim=True).clamp(min=1e-12)


def masked_before_exp(scores, mask):
    e = torch.exp(scores.masked_fill(~mask, -inf))
    return torch.where(mask.any(-1, keepdim=True), e / e.sum(-1, keepdim=True), 0)


def masked_behind_softmax(scores, mask):
    return F.softmax(scores, -1) * mask


def scaled_up(scores, mask):
    """Masked behind the softmax, and what is left scaled to add up to 1: right, but where nothing of it is left."""
    weights = F.softmax(scores, -1) * mask
    return weights / weights.sum(-1, keepdim=True)


def fused(h, g, content, query, q=lambda h, g: g, k=lambda h, g: h, mask=lambda query: query):
    return (F.scaled_dot_product_attention(h, h, h, content),
            F.scaled_dot_product_attention(q(h, g), k(h, g), k(h, g), mask(query)))


def fused_with_float_masks(h, g, content, query):
    return (F.scaled_dot_product_attention(h, h, h, content.float()),
            F.scaled_dot_product_attention(g, h, h, query.float()))


# 11.4

def by_gather(columns, number=lambda x: (x.shape[1] + 1) // 2):
    def answer(x, slots):
        key = number(x)
        return torch.gather(x, 1, columns(slots.unsqueeze(1), torch.arange(key), key))
    return answer


def by_loops(column, at=lambda n, slots: int(slots[n])):
    def answer(x, slots):
        key = (x.shape[1] + 1) // 2
        out = torch.zeros(len(slots), key)
        for n in range(len(slots)):
            for j in range(key):
                out[n, j] = x[n, column(at(n, slots), j, key)]
        return out
    return answer


def the_shift(x, slots):
    query, width = x.shape
    return F.pad(x, (1, 0)).view(width + 1, query)[1:].reshape(query, width)[:, :(width + 1) // 2]


def rolled(steps):
    def answer(x, slots):
        key = (x.shape[1] + 1) // 2
        return torch.stack([row.roll(steps(int(i), key))[:key] for row, i in zip(x, slots, strict=True)])
    return answer


def looking_back(x, slots):
    key = (x.shape[1] + 1) // 2
    back = slots[:, None] - torch.arange(key)
    return torch.where(back >= 0, x.gather(1, key - 1 - back), 0)


# 11.5

def segments(pick=lambda a, b: (a[:, None] != b[None]).long(), bias=lambda q, b: q + b[:, None],
             formula="hqw,qkhw->hqk"):
    return lambda q, s, b, of_queries, of_keys: torch.einsum(formula, bias(q, b), s[pick(of_queries, of_keys)])


def chosen(same):
    def answer(q, s, b, of_queries, of_keys):
        plus, minus = torch.einsum("hqw,phw->phq", q + b[:, None], s)
        return torch.where(same(of_queries[:, None], of_keys[None]), plus[..., None], minus[..., None])
    return answer


def only_the_same(q, s, b, of_queries, of_keys):
    same = (of_queries[:, None] == of_keys).float()
    return ((q + b[:, None]) * s[0][:, None]).sum(-1, keepdim=True) * same


# 11.6

def mpnet(hide=lambda predict, t: predict[t:], masks=lambda ones: ones.triu()):
    def answer(time, predict):
        words = torch.ones(len(predict), time, dtype=torch.bool)
        for t in range(len(predict)):
            words[t, hide(predict, t)] = False
        return torch.cat([words, masks(torch.ones(len(predict), len(predict), dtype=torch.bool))], dim=1)
    return answer


def opened(columns):
    """The context first; then, row by row, more words."""
    def answer(time, predict):
        words = torch.ones(len(predict), time, dtype=torch.bool)
        words[:, predict] = False
        for t in range(len(predict)):
            words[t, columns(predict, t)] = True
        return torch.cat([words, torch.ones(len(predict), len(predict)).triu().bool()], dim=1)
    return answer


def only_those_said(time, predict):
    words = torch.zeros(len(predict), time, dtype=torch.bool)
    for t in range(len(predict)):
        words[t, predict[:t]] = True
    return torch.cat([words, torch.ones(len(predict), len(predict)).triu().bool()], dim=1)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("11.1", compared(rank=lambda order: order), "s taken for the time at which slot t is said; it is"),
    ("11.1", compared(rank=lambda order: order.argsort().argsort()), "s taken for the time at which slot t is said; "),
    ("11.1", compared(rank=lambda order: order.sort().values), "rom left to right, whatever the order"),
    ("11.1", triangles, "rom left to right, whatever the order"),
    ("11.1", compared(content=torch.ge, query=torch.gt), "sees what is said after it: rows are"),
    ("11.1", compared(rank=lambda order: order, content=torch.ge, query=torch.gt), "and a slot sees what is said"),
    ("11.1", compared(query=torch.le), "uery stream sees itself"),
    ("11.1", compared(content=torch.lt), "ontent stream does not see itself"),
    ("11.1", compared(content=torch.lt, query=torch.le), "two masks have changed places"),
    ("11.1", compared(query=torch.ne), "sees all slots but itself"),
    ("11.1", compared(content=torch.gt, query=torch.ge), "rue marks what is blocked"),
    ("11.1", lambda order: tuple(mask[order] for mask in triangles(order)), "nly the rows are moved, by `order`"),
    ("11.1", lambda order: tuple(mask[:, order] for mask in triangles(order)), "nly the columns are moved, by `order`"),
    ("11.1", lambda order: tuple(mask[order][:, order] for mask in triangles(order)), "s taken for the time at which"),
    ("11.1", filled(lambda order, t: (order[t], slice(t + 1)), lambda order, t: (order[t], slice(t))),
     "nly the rows are in their places"),
    ("11.1", filled(lambda order, t: (t, order[:t + 1]), lambda order, t: (t, order[:t])),
     "nly the columns are in their places"),
    ("11.1", filled(lambda order, t: (t, slice(order[t] + 1)), lambda order, t: (t, slice(order[t]))),
     "nly the rows are moved, by `order` itself"),
    ("11.1", filled(lambda order, t: (order[t], order[t:]), lambda order, t: (order[t], order[t + 1:])),
     "sees what is said after it: rows are"),
    ("11.1", filled(query=lambda order, t: (order[t], order[:t + 1])), "uery stream sees itself"),
    ("11.1", filled(content=lambda order, t: (order[t], order[:t])), "ontent stream does not see itself"),
    ("11.1", filled(query=lambda order, t: (order[t], order[:max(0, t - 1)])), "isses the slot that is said just"),
    ("11.1", filled(lambda order, t: (order[t], order[max(0, t - 1):t + 1]),
                    lambda order, t: (order[t], order[max(0, t - 1):t])), "nly the slot that is said just before"),
    ("11.2", pair(price=lambda logp: logp.item()), "minus is forgotten"),
    ("11.2", pair(price=lambda logp: -logp.item() / 0.6931472), "are in bits"),
    ("11.2", pair(price=lambda logp: -torch.log2(logp.exp()).item()), "are in bits"),
    ("11.2", pair(price=lambda logp: logp.exp().item()), "hese are probabilities"),
    ("11.2", pair(price=lambda logp: (-logp).exp().item()), "hese are perplexities"),
    ("11.2", pair(price=lambda logp: -logp.item() / 2), "are per word"),
    ("11.2", pair(second=lambda first, joint, then: then.logsumexp(0)), "the sum of p(b | a) over a is taken"),
    ("11.2", pair(second=lambda first, joint, then: then.exp().mean(0).log()), "the mean of p(b | a) is taken"),
    ("11.2", pair(second=lambda first, joint, then: joint.sum(0)), "ogs are added up over a"),
    ("11.2", pair(second=lambda first, joint, then: first.exp() @ then), "ogs are averaged over a"),
    ("11.2", pair(second=lambda first, joint, then: joint.max(0).values), "the largest p(a) p(b | a)"),
    ("11.2", pair(second=lambda first, joint, then: joint.logsumexp(1)), "he sum runs over b"),
    ("11.2", pair(second=lambda first, joint, then: then[first.argmax()]), "row of the likeliest a"),
    ("11.2", pair(cell=lambda joint: joint.argmax().item()), "still a number of the flat table"),
    ("11.2", pair(cell=lambda joint: divmod(joint.argmax().item(), len(joint))), "ivided by the number of rows"),
    ("11.2", pair(cell=lambda joint: divmod(joint.argmax().item(), joint.shape[1])[::-1]), "pair is (b, a)"),
    ("11.2", pair(cell=lambda joint: (a := int(joint.amax(1).argmin()), int(joint[a].argmin()))), "ours is"),
    ("11.2", pair(cell=lambda joint: divmod(int((-joint).argmax()), joint.shape[1])), "is the least likely one"),
    ("11.2", pair(beam=lambda joint, first, then: then), "searched by p(b | a) alone"),
    ("11.2", pair_with(lambda first, then, said, *told: (*told[:3], (a := int(first.argmax()), int(then[a].argmax())))),
     "LNet's likeliest pair begins with the likeliest first word"),
    ("11.2", pair_with(lambda first, then, said, *told: (
        *told[:2], (a := int(first.argmax()), int(then[a].argmax())), told[3])),
     "ikeliest second word is the one behind"),
    ("11.2", pair_with(lambda first, then, said, *told: (told[0], -then[said].item(), *told[2:])),
     "pays for the second word only"),
    ("11.2", pair_with(lambda first, then, said, *told: (-(first[said[0]] + then[said]).item(), *told[1:])),
     "pays as XLNet does"),
    ("11.2", pair_with(lambda first, then, said, *told: (told[0], -(first[said[0]] + then[said[1], said[0]]).item(),
                                                         *told[2:])), "ows and columns of p(b | a)"),
    ("11.2", pair_with(lambda first, then, said, *told: (
        -(first[said[0]] * (first[:, None] + then).logsumexp(0)[said[1]]).item(), -(first[said[0]] * then[said]).item(),
        *told[2:])), "og-probabilities are multiplied"),
    ("11.2", pair_with(lambda first, then, said, bert, xlnet, one, other: ((bert, one), (xlnet, other))),
     "2 parts; 4 were expected"),
    ("11.2", pair_with(lambda first, then, said, bert, xlnet, one, other: (bert, one, xlnet, other)),
     "answers go by reader"),
    ("11.2", pair_with(lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, *one, *other)),
     "6 parts; 4 were expected"),
    ("11.3", overwritten, "looks at what h has just become"),
    ("11.3", nan_left_in, "row that sees nothing is NaN"),
    ("11.3", streams_by(masked_behind_exp), "xp of a large score is infinite, and ∞ · 0"),
    ("11.3", streams_by(masked_before_exp), "xp of a large score is infinite: "),
    ("11.3", streams(hide=lambda scores, mask: scores.masked_fill(~mask, -1e9)), "is the mean of everything"),
    ("11.3", streams(hide=lambda scores, mask: scores.masked_fill(~mask, torch.finfo(scores.dtype).min)),
     "is the mean of everything"),
    ("11.3", streams(hide=lambda scores, mask: scores + torch.zeros(mask.shape).masked_fill(
        ~mask, torch.finfo(scores.dtype).min)), "is the mean of everything"),
    ("11.3", streams(hide=lambda scores, mask: scores + (1 - mask.float()) * -1e9), "ooks at everything: −1e9"),
    ("11.3", streams(hide=lambda scores, mask: scores + (1 - mask.float()) * -10000), "ooks at everything: −10000"),
    ("11.3", streams(hide=lambda scores, mask: scores * mask), "ultiplied with the scores"),
    ("11.3", streams(hide=lambda scores, mask: scores.masked_fill(~mask, 0)), "ultiplied with the scores"),
    ("11.3", streams(hide=lambda scores, mask: scores.masked_fill(~mask, 1e-9)), "ultiplied with the scores"),
    ("11.3", streams_by(masked_behind_softmax), "weights that are left do not add up to 1"),
    ("11.3", streams_by(scaled_up), "row that sees nothing is NaN"),
    ("11.3", streams_by(lambda scores, mask: scores * mask), "softmax is left out"),
    ("11.3", streams(hide=lambda scores, mask: scores + mask), "dded to the scores as 1 and 0"),
    ("11.3", fused_with_float_masks, "dded to the scores as 1 and 0"),
    ("11.3", streams(hide=lambda scores, mask: scores.masked_fill(mask, -inf)), "mask is upside down"),
    ("11.3", streams(hide=lambda scores, mask: scores), "othing is masked"),
    ("11.3", streams(scale=lambda k: 1), "not divided by the root of the width"),
    ("11.3", streams(scale=lambda k: k.shape[-1]), "divided by the width, not by its root"),
    ("11.3", streams(scale=lambda k: k.shape[0] ** 0.5), "root of the number of slots"),
    ("11.3", streams(scale=lambda k: len(k) ** 0.5), "root of the number of slots"),
    ("11.3", streams(scale=lambda k: k.shape[-1] ** -0.5), "multiplied by the root of the width"),
    ("11.3", streams(dim=0), "over the queries; the weights"),
    ("11.3", streams(dim=0, then=lambda weights: weights), "where no query sees a key, it is NaN"),
    ("11.3", streams(scale=lambda k: 1, then=lambda weights: weights), "not divided by the root of the width"),
    ("11.3", lambda *args: fused(*args, k=lambda h, g: g), "query stream attends to itself"),
    ("11.3", lambda *args: fused(*args, q=lambda h, g: h), "ueries of the query stream are those of h"),
    ("11.3", lambda h, g, content, query: fused(h, g, content, query, mask=lambda query: content),
     "ontent stream's mask is used for both"),
    ("11.3", lambda h, g, content, query: fused(h, g, query, query), "uery stream's mask is used for both"),
    ("11.3", lambda h, g, content, query: fused(h, g, query, content), "two masks have changed places"),
    ("11.3", lambda h, g, content, query: fused(h, g, content, query)[::-1], "next g comes first"),
    ("11.3", lambda h, g, content, query: tuple(a + b for a, b in zip((h, g), fused(h, g, content, query),
                                                                      strict=True)), "old vectors are added"),
    ("11.4", by_gather(lambda i, j, key: i - j + key - 1), "sign is wrong"),
    ("11.4", by_gather(lambda i, j, key: key - i + j), "one too high: "),
    ("11.4", by_gather(lambda i, j, key: key - 2 - i + j), "one too low: "),
    ("11.4", by_loops(lambda i, j, key: key - i + j), "one too high, up to"),
    ("11.4", by_loops(lambda i, j, key: key - 2 - i + j), "one too low, and column −1"),
    ("11.4", by_loops(lambda i, j, key: i - j), "distance itself is taken for the column"),
    ("11.4", by_loops(lambda i, j, key: j - i), "− 1 is still to be added"),
    ("11.4", by_loops(lambda i, j, key: key - 1 - i + j, at=lambda n, slots: n), "taken to stand at slot n"),
    ("11.4", by_loops(lambda i, j, key: key - 1 - abs(i - j)), "has lost its sign"),
    ("11.4", by_loops(lambda i, j, key: key - 1 - max(i - j, 0)), "has the number of the distance 0"),
    ("11.4", the_shift, "taken for the last of the keys, in a row"),
    ("11.4", rolled(lambda i, key: key - 1 - i), "rows move to the right"),
    ("11.4", rolled(lambda i, key: -i), "row moves left by its slot"),
    ("11.4", looking_back, "comes later has 0"),
    ("11.4", lambda x, slots: x[:, :(x.shape[1] + 1) // 2], "othing is moved"),
    ("11.4", lambda x, slots: x[:, (x.shape[1] - 1) // 2:], "taken to stand at slot 0"),
    ("11.4", lambda x, slots: x[:, (key := (x.shape[1] + 1) // 2) - 1 - slots + torch.arange(key)],
     "columns of one diagonal"),
    ("11.4", lambda x, slots: x[slots.unsqueeze(1), (key := (x.shape[1] + 1) // 2) - 1 - slots.unsqueeze(1)
                                + torch.arange(key)], "picks rows too"),
    ("11.4", lambda x, slots: torch.gather(x, 0, (key := (x.shape[1] + 1) // 2) - 1 - slots.unsqueeze(1)
                                           + torch.arange(key)), "down the columns (dim 0)"),
    ("11.4", by_gather(lambda i, j, key: key - 1 - i + j, number=lambda x: x.shape[1] // 2), "ne key is missing, and"),
    ("11.5", segments(pick=lambda a, b: (a[:, None] == b[None]).long()), "and s₋ have changed places"),
    ("11.5", chosen(torch.ne), "and s₋ have changed places"),
    ("11.5", chosen(torch.ge), "with an earlier number"),
    ("11.5", chosen(torch.le), "with a later number"),
    ("11.5", chosen(lambda a, b: (b == 0).expand(len(a), -1)), "nly the key's segment is asked, as BERT"),
    ("11.5", chosen(lambda a, b: (a == 0).expand(-1, b.shape[1])), "nly the query's segment is asked: 0"),
    ("11.5", segments(pick=lambda a, b: b.expand(len(a), -1)), "nly the key's segment is asked: its number"),
    ("11.5", segments(pick=lambda a, b: a[:, None].expand(-1, len(b))), "nly the query's segment is asked: its number"),
    ("11.5", segments(pick=lambda a, b: (a[:, None] - b).abs()), "difference of the numbers"),
    ("11.5", segments(bias=lambda q, b: q), "vector b is left out"),
    ("11.5", segments(bias=lambda q, b: q + b), "dded along the queries"),
    ("11.5", segments(bias=lambda q, b: b[:, None].expand_as(q)), "query is left out"),
    ("11.5", segments(formula="hqw,qkhw->qk"), "heads are added up"),
    ("11.5", segments(formula="hqw,qkhw->hkq"), "lies on its side"),
    ("11.5", lambda q, s, b, *of: segments(bias=lambda q, b: q)(q, s + b, b, *of), "dded to s, not to q"),
    ("11.5", lambda q, s, b, *of: segments(bias=lambda q, b: q)(q, s, b, *of) + b.sum(-1)[:, None, None],
     "itself is added to the score"),
    ("11.5", lambda q, *rest: segments()(q, *rest) / q.shape[-1] ** 0.5, "ivided by the root of the width"),
    ("11.5", lambda q, *rest: segments()(q, *rest).softmax(-1), "hese are weights"),
    ("11.5", only_the_same, "airs of two segments have 0"),
    ("11.6", mpnet(hide=lambda predict, t: predict[t + 1:]), "its own word, and its mask too"),
    ("11.6", mpnet(hide=lambda predict, t: predict[t + 1:], masks=lambda ones: ones.triu(1)), "in place of its mask;"),
    ("11.6", mpnet(masks=lambda ones: ones.triu(1)), "does not see its own mask"),
    ("11.6", mpnet(masks=lambda ones: ones), "ll masks are seen; where"),
    ("11.6", mpnet(masks=torch.tril), "asks of what is said before are seen; it"),
    ("11.6", mpnet(masks=lambda ones: ones & False), "his is XLNet"),
    ("11.6", mpnet(masks=lambda ones: torch.eye(len(ones), dtype=torch.bool)), "nly the own mask is seen"),
    ("11.6", mpnet(hide=lambda predict, t: predict, masks=lambda ones: ones), "his is BERT"),
    ("11.6", mpnet(hide=lambda predict, t: predict), "though their masks are no longer either"),
    ("11.6", mpnet(hide=lambda predict, t: []), "ll words are seen, the answers too"),
    ("11.6", mpnet(hide=lambda predict, t: predict[:t + 1]), "ords that are said later are seen; it"),
    ("11.6", mpnet(hide=lambda predict, t: predict[:t]), "own word and those said later are seen"),
    ("11.6", mpnet(hide=lambda predict, t: slice(predict[t], None)), "othing is seen right of the slot"),
    ("11.6", opened(lambda predict, t: slice(t)), "lots 0 … t − 1 are uncovered"),
    ("11.6", opened(lambda predict, t: slice(predict[t])), "to the left of a slot is taken for said"),
    ("11.6", only_those_said, "o word is seen but those that are said before"),
    ("11.6", lambda time, predict: mpnet()(time, sorted(predict)), "ows and masks stand in the order of the text"),
    ("11.6", lambda time, predict: mpnet()(time, predict)[:, :time], "asks are left out of the keys"),
    ("11.6", lambda time, predict: ~mpnet()(time, predict), "rue marks what is blocked"),
    ("11.6", lambda time, predict: torch.cat([words := mpnet()(time, predict)[:, :time], ~words], dim=1),
     "ach slot of the text has a mask"),
    ("11.6", lambda time, predict: mpnet()(time, predict).roll(len(predict), 1), "asks stand before the words"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("11.1", compared()), ("11.1", filled()), ("11.2", pair()), ("11.3", streams()), ("11.3", fused),
    ("11.4", by_gather(lambda i, j, key: key - 1 - i + j)), ("11.4", by_loops(lambda i, j, key: key - 1 - i + j)),
    ("11.4", rolled(lambda i, key: i - key + 1)), ("11.5", segments()), ("11.5", chosen(torch.eq)), ("11.6", mpnet()),
    ("11.6", opened(lambda predict, t: predict[:t])),
])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
