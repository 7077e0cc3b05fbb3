"""Wrong answers to the exercises 11.1, 11.2 and 11.6, who sees whom and what that costs, under the names of their
mistakes, and what holds of any right one."""

from collections.abc import Callable
from math import log

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties

# 11.1, an order in two masks

Masks = tuple[Tensor, Tensor]


def ranked(order: list[int]) -> Tensor:
    """When each slot is said."""
    return torch.tensor(order).argsort()


def by_rank(rank: Tensor) -> Masks:
    """The two masks of slots that are said at these times."""
    return rank <= rank[:, None], rank < rank[:, None]


def content(order: list[int]) -> Tensor:
    """The content stream's mask."""
    return by_rank(ranked(order))[0]


def query(order: list[int]) -> Tensor:
    """The query stream's mask."""
    return by_rank(ranked(order))[1]


def itself(order: list[int]) -> Tensor:
    """Each slot sees itself, and nothing else."""
    return torch.eye(len(order), dtype=torch.bool)


def left_to_right(order: list[int]) -> Masks:
    """The two masks of the order of the text."""
    return by_rank(torch.arange(len(order)))


def picked(pick: Callable[[Tensor, list[int]], Tensor]) -> Callable[[list[int]], Masks]:
    """The exercise's function with masks that are picked out of those of the order of the text."""
    def answer(order: list[int]) -> Masks:
        one, other = left_to_right(order)
        return pick(one, order), pick(other, order)
    return answer


ORDER: Mistakes = {
    "`order[t]` is taken for the time at which slot t is said; it is the slot that is said t-th":
        lambda order: by_rank(torch.tensor(order)),
    "these are the masks from left to right, whatever the order: rows and columns are the slots of the text, not those "
    "that are said first, second, …": left_to_right,
    "a slot sees what is said after it: rows are the queries, columns the keys":
        lambda order: (content(order).T, query(order).T),
    "`order[t]` is taken for the time at which slot t is said, and a slot sees what is said after it":
        lambda order: (by_rank(torch.tensor(order))[0].T, by_rank(torch.tensor(order))[1].T),
    "only the rows are in their places: row i sees as many slots as it should, but the first ones of the text":
        picked(lambda mask, order: mask[ranked(order)]),
    "only the rows are moved, by `order` itself: row i sees the first order[i] slots of the text":
        picked(lambda mask, order: mask[order]),
    "only the columns are in their places: row t is the slot that is said t-th, and should be slot t":
        picked(lambda mask, order: mask[:, ranked(order)]),
    "only the columns are moved, by `order` itself: both rows and columns stand in the text's order":
        picked(lambda mask, order: mask[:, order]),
    "the query stream sees itself, and so the word that it has to say":
        lambda order: (content(order), content(order)),
    "the content stream does not see itself; its slots know their own words":
        lambda order: (query(order), query(order)),
    "the two masks have changed places: the content stream comes first":
        lambda order: (query(order), content(order)),
    "True marks what is blocked; True = may look": lambda order: (~content(order), ~query(order)),
    "the query stream sees all slots but itself, those that are said later too":
        lambda order: (content(order), ~itself(order)),
    "the content stream sees everything; it has an order too, or the query stream would hear of later words through it":
        lambda order: (content(order) | True, query(order)),
    "the query stream misses the slot that is said just before; only itself and what is said later is hidden":
        lambda order: (content(order), ranked(order) < ranked(order)[:, None] - 1),
    "a slot sees only the slot that is said just before; it sees all that are said before":
        lambda order: tuple(mask & (ranked(order) >= ranked(order)[:, None] - 1)  # type: ignore[arg-type, return-value]
                            for mask in by_rank(ranked(order))),
}

OF_MASKS: Properties = {
    "a slot of the query stream sees itself": lambda out, order: torch.equal(
        out[1].diagonal(), torch.zeros(len(order), dtype=torch.bool)),
    "a slot of the content stream does not see itself": lambda out, order: torch.equal(
        out[0].diagonal(), torch.ones(len(order), dtype=torch.bool)),
    "the two masks differ elsewhere than in whether a slot sees itself":
        lambda out, order: torch.equal(out[0], out[1] | itself(order)),
    "two slots see each other, or neither sees the other; one of the two is said first":
        lambda out, order: torch.equal(out[1] ^ out[1].T, ~itself(order)),
    "the slot that is said t-th does not see t slots in the query stream":
        lambda out, order: out[1].sum(1)[order].tolist() == list(range(len(order))),
}


# 11.2, apart and together

Pair = tuple[int, int]
Answer = tuple[float, float, Pair, Pair]


def likeliest(table: Tensor) -> Pair:
    """Row and column of the largest cell."""
    row, column = divmod(int(table.argmax()), table.shape[1])
    return row, column


def joined(first: Tensor, then: Tensor) -> Tensor:
    """The log-probability of each pair."""
    return first[:, None] + then


def right(first: Tensor, then: Tensor, said: Pair) -> Answer:
    """The exercise's function."""
    return told(joined(first, then).logsumexp(0), joined(first, then), first, said)


def told(second: Tensor, joint: Tensor, first: Tensor, said: Pair) -> Answer:
    """The answer for other beliefs about the second word, or about the pair."""
    a, b = said
    return -float(first[a] + second[b]), -float(joint[a, b]), (int(first.argmax()), int(second.argmax())), likeliest(
        joint)


def believing(second: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Answer]:
    """The exercise's function with another belief of BERT about the second word, from p(a) and p(b | a)."""
    return lambda first, then, said: told(second(first, then), joined(first, then), first, said)


def joining(joint: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Callable[..., Answer]:
    """The exercise's function with another belief of XLNet about the pair, from p(a), p(b | a) and p(b)."""
    def answer(first: Tensor, then: Tensor, said: Pair) -> Answer:
        second = joined(first, then).logsumexp(0)
        return told(second, joint(first, then, second), first, said)
    return answer


def priced(price: Callable[[float], float]) -> Callable[..., Answer]:
    """The exercise's function with something else made of each price."""
    def answer(first: Tensor, then: Tensor, said: Pair) -> Answer:
        bert, xlnet, apart, together = right(first, then, said)
        return price(bert), price(xlnet), apart, together
    return answer


def changed(change: Callable[..., tuple[object, ...]]) -> Callable[..., tuple[object, ...]]:
    """The exercise's function with something else made of its arguments and its four answers."""
    return lambda first, then, said: change(first, then, said, *right(first, then, said))


def greedy(first: Tensor, then: Tensor) -> Pair:
    """The likeliest first word, and the second that is likeliest behind it."""
    a = int(first.argmax())
    return a, int(then[a].argmax())


PAIR: Mistakes = {
    "the minus is forgotten: a price is above 0": priced(lambda nats: -nats),
    "the prices are in bits; asked are nats": priced(lambda nats: nats / log(2)),
    "these are probabilities; the price is minus their log": priced(lambda nats: float(torch.tensor(-nats).exp())),
    "these are perplexities; the price is the log of them": priced(lambda nats: float(torch.tensor(nats).exp())),
    "the prices are per word; asked is what the pair costs": priced(lambda nats: nats / 2),
    "XLNet pays for the second word only; the first has to be said too": changed(
        lambda first, then, said, bert, xlnet, *pairs: (bert, -float(then[said]), *pairs)),
    "both pay for the second word only; the first has to be said too": changed(
        lambda first, then, said, bert, xlnet, *pairs: (bert + float(first[said[0]]), -float(then[said]), *pairs)),
    "BERT pays as XLNet does; it does not see the first word when it guesses the second": changed(
        lambda first, then, said, bert, xlnet, *pairs: (xlnet, xlnet, *pairs)),
    "XLNet pays as BERT does; it sees the first word when it says the second": changed(
        lambda first, then, said, bert, xlnet, *pairs: (bert, bert, *pairs)),
    "BERT sees the first word, in its price and in its likeliest pair; it guesses the second without it": changed(
        lambda first, then, said, bert, xlnet, one, other: (xlnet, xlnet, greedy(first, then), other)),
    "BERT's likeliest second word is the one behind its likeliest first word; it guesses each by itself": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, greedy(first, then), other)),
    "XLNet's likeliest pair begins with the likeliest first word; another beginning may give a likelier pair": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, one, greedy(first, then))),
    "both likeliest pairs are that of the largest p(a, b); BERT takes the largest p(a) and the largest p(b)": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, other, other)),
    "both likeliest pairs are those of BERT; XLNet takes the pair with the largest p(a, b)": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, one, one)),
    "for p(b) the mean of p(b | a) is taken; each a counts as much as it is likely":
        believing(lambda first, then: then.exp().mean(0).log()),
    "for p(b) the sum of p(b | a) over a is taken; each a counts as much as it is likely":
        believing(lambda first, then: then.logsumexp(0)),
    "logs are added up over a; probabilities are: .logsumexp":
        believing(lambda first, then: joined(first, then).sum(0)),
    "logs are averaged over a, each as often as it is likely; probabilities are added up: .logsumexp":
        believing(lambda first, then: (first.exp()[:, None] * then).sum(0)),
    "for p(b) the largest p(a) p(b | a) is taken; it is the sum of all":
        believing(lambda first, then: joined(first, then).amax(0)),
    "for p(b) the row of the likeliest a is taken; it is a sum over all":
        believing(lambda first, then: then[first.argmax()]),
    "the sum runs over b, along the rows, and gives p(a) once more; p(b) is a sum over a, down the columns":
        believing(lambda first, then: joined(first, then).logsumexp(1)),
    "XLNet's pair is searched by p(b | a) alone, which is 1 behind some unlikely words; p(a) counts too": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, one, likeliest(then))),
    "log-probabilities are multiplied; they are added, for probabilities are multiplied": changed(
        lambda first, then, said, bert, xlnet, *pairs: (
            -float(first[said[0]] * joined(first, then).logsumexp(0)[said[1]]), -float(first[said[0]] * then[said]),
            *pairs)),
    "probabilities are added; they are multiplied, so their logs are added": changed(
        lambda first, then, said, bert, xlnet, *pairs: (
            -float((first[said[0]].exp() + joined(first, then).logsumexp(0)[said[1]].exp()).log()),
            -float((first[said[0]].exp() + then[said].exp()).log()), *pairs)),
    "XLNet adds p(b) and p(b | a); it says the first word with p(a)":
        joining(lambda first, then, second: second + then),
    "rows and columns of p(b | a) have changed places in XLNet's price: row a, column b": changed(
        lambda first, then, said, bert, xlnet, *pairs: (bert, -float(first[said[0]] + then[said[::-1]]), *pairs)),
    "the least likely pairs are given: a largest price is a smallest probability": changed(
        lambda first, then, said, bert, xlnet, *pairs: (
            bert, xlnet, (int(first.argmin()), int(joined(first, then).logsumexp(0).argmin())),
            likeliest(-joined(first, then)))),
    "XLNet's likeliest pair is the least likely one: a largest price is a smallest probability": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, one, likeliest(-joined(first, then)))),
    "the likeliest cell is still a number of the flat table, counted row by row; asked are its row and column": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, one, int(joined(first, then).argmax()))),
    "the flat number of the cell is divided by the number of rows; a row is as long as there are columns": changed(
        lambda first, then, said, bert, xlnet, one, other: (
            bert, xlnet, one, divmod(int(joined(first, then).argmax()), len(first)))),
    "XLNet's likeliest pair is still (0, 0): no log exceeds a maximum that begins at 0, for all are below 0": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, one, (0, 0))),
    "both likeliest pairs are still (0, 0): no log exceeds a maximum that begins at 0, for all are below 0": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, (0, 0), (0, 0))),
    "the minus holds for the first word alone; put the sum of both in parentheses": changed(
        lambda first, then, said, bert, xlnet, *pairs: (
            -float(first[said[0]]) + float(joined(first, then).logsumexp(0)[said[1]]),
            -float(first[said[0]]) + float(then[said]), *pairs)),
    "XLNet's likeliest pair is (b, a); asked is (a, b)": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, one, other[::-1])),
    "both likeliest pairs are (b, a); asked is (a, b)": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, xlnet, one[::-1], other[::-1])),
    "XLNet comes first; give what BERT pays and then XLNet, in the prices and in the pairs": changed(
        lambda first, then, said, bert, xlnet, one, other: (xlnet, bert, other, one)),
    "XLNet's price comes first; give BERT's and then XLNet's": changed(
        lambda first, then, said, bert, xlnet, *pairs: (xlnet, bert, *pairs)),
    "the answers go by reader, (price, pair) and (price, pair); give both prices, then both pairs": changed(
        lambda first, then, said, bert, xlnet, one, other: (bert, one, xlnet, other)),
}


# 11.6, words before, masks behind

Blocks = Callable[[Tensor, int, list[int]], Tensor]


def words(time: int, predict: list[int], more: int = 0) -> Tensor:
    """Each query sees the context and what is said before it, and ``more`` words of those that are said next."""
    mask = torch.ones(len(predict), time, dtype=torch.bool)
    for t in range(len(predict)):
        mask[t, predict[t + more:]] = False
    return mask


def masks(predict: list[int], first: int = 0) -> Tensor:
    """Each query sees the masks of itself, or from the slot ``first`` turns later, and of all that are said later."""
    return torch.ones(len(predict), len(predict), dtype=torch.bool).triu(first)


def seen(of_words: Callable[[int, list[int]], Tensor] = words, of_masks: Callable[[list[int]], Tensor] = masks,
         ) -> Callable[[int, list[int]], Tensor]:
    """The exercise's function with another block of words or of masks."""
    return lambda time, predict: torch.cat([of_words(time, predict), of_masks(predict)], 1)


def in_text_order(mask: Callable[[int, list[int]], Tensor]) -> Callable[[int, list[int]], Tensor]:
    """The exercise's function for predicted slots that are said from left to right."""
    return lambda time, predict: mask(time, sorted(predict))


def context(time: int, predict: list[int]) -> Tensor:
    """Each query sees the words that are not predicted."""
    mask = torch.ones(len(predict), time, dtype=torch.bool)
    mask[:, predict] = False
    return mask


def uncovered(cells: Callable[[Tensor, int, list[int]], None]) -> Callable[[int, list[int]], Tensor]:
    """The context, and what ``cells`` uncovers for the query t."""
    def answer(time: int, predict: list[int]) -> Tensor:
        mask = context(time, predict)
        for t in range(len(predict)):
            cells(mask, t, predict)
        return mask
    return answer


def to_the_left(mask: Tensor, t: int, predict: list[int]) -> None:
    """Uncover what stands to the left of the query's slot."""
    mask[t, :predict[t]] = True


def the_first(mask: Tensor, t: int, predict: list[int]) -> None:
    """Uncover the slots 0 … t − 1."""
    mask[t, :t] = True


def later_ones(mask: Tensor, t: int, predict: list[int]) -> None:
    """Uncover what is said later."""
    mask[t, predict[t + 1:]] = True


def own_and_later_ones(mask: Tensor, t: int, predict: list[int]) -> None:
    """Uncover the query's own word and what is said later."""
    mask[t, predict[t:]] = True


def to_the_right_hidden(time: int, predict: list[int]) -> Tensor:
    """All words that stand to the left of the query's slot."""
    return torch.arange(time) < torch.tensor(predict)[:, None]


PREDICTED: Mistakes = {
    "a query sees its own word, and its mask too; the word is what it has to say":
        seen(lambda time, predict: words(time, predict, 1)),
    "a query sees its own word in place of its mask; the word is what it has to say":
        seen(lambda time, predict: words(time, predict, 1), lambda predict: masks(predict, 1)),
    "a query does not see its own mask: its place would be missing, and to it the text one word shorter":
        seen(of_masks=lambda predict: masks(predict, 1)),
    "all masks are seen; where a word has been said, it is seen in place of its mask":
        seen(of_masks=lambda predict: masks(predict) | True),
    "no mask is seen. This is XLNet: a query does not know which places are still to come":
        seen(of_masks=lambda predict: masks(predict) & False),
    "only the own mask is seen; the places of words that are said later need theirs":
        seen(of_masks=lambda predict: masks(predict) & masks(predict).T),
    "the words that are said before are not seen, and all masks are. This is BERT":
        seen(context, lambda predict: masks(predict) | True),
    "the words that are said before are not seen, though their masks are no longer either": seen(context),
    "the masks of what is said before are seen; it is those of what is said later":
        seen(of_masks=lambda predict: masks(predict).T),
    "the words that are said later are seen; it is those that are said before": seen(uncovered(later_ones)),
    "words are seen that are said later, and masks of what is said before; it is the other way round":
        seen(uncovered(later_ones), lambda predict: masks(predict).T),
    "the own word and those said later are seen, as are their masks; it is the words that are said before":
        seen(uncovered(own_and_later_ones)),
    "all words are seen, the answers too": seen(lambda time, predict: words(time, predict) | True),
    "no word is seen but those that are said before; what is not predicted is seen too":
        seen(lambda time, predict: words(time, predict) & ~context(time, predict)),
    "nothing is seen right of the slot that is predicted; what is not predicted is seen on both sides":
        seen(to_the_right_hidden),
    "what stands to the left of a slot is taken for said; `predict` is the order in which they are said":
        seen(uncovered(to_the_left)),
    "slots 0 … t − 1 are uncovered; it is the words said before, predict[:t]": seen(uncovered(the_first)),
    "rows and masks stand in the order of the text; they stand in the order in which they are said":
        in_text_order(seen()),
    "the masks stand in the order of the text; they stand in the order in which they are said":
        seen(of_masks=lambda predict: masks(predict)[:, torch.tensor(predict).argsort()]),
    "the rows stand in the order of the text; row t belongs to the slot that is said t-th":
        lambda time, predict: seen()(time, predict)[torch.tensor(predict).argsort()],
    "the masks stand before the words; they stand behind them":
        lambda time, predict: torch.cat([masks(predict), words(time, predict)], 1),
    "the masks are left out of the keys: there are time + len(predict) of them": words,
    "True marks what is blocked; True = may look": lambda time, predict: ~seen()(time, predict),
    "each slot of the text has a mask; only those that are predicted have one":
        lambda time, predict: torch.cat([words(time, predict), ~words(time, predict)], 1),
    "the mask lies on its side: its rows are the queries": lambda time, predict: seen()(time, predict).T,
}


def places(out: Tensor, time: int, predict: list[int]) -> Tensor:
    """How often each query sees each place of the text, as a word or as a mask."""
    counts = out[:, :time].long()
    counts[:, predict] += out[:, time:].long()
    return counts


OF_PREDICTED: Properties = {
    "a query sees the word that it has to say": lambda out, time, predict: not bool(
        out[torch.arange(len(predict)), predict].any()),
    "a query does not see its own mask": lambda out, time, predict: torch.equal(
        out[:, time:].diagonal(), torch.ones(len(predict), dtype=torch.bool)),
    "a word that is not predicted is hidden": lambda out, time, predict: torch.equal(
        out[:, :time] & context(time, predict), context(time, predict)),
    "a query does not see each place once, the word or its mask": lambda out, time, predict: bool(
        (places(out, time, predict) == 1).all()),
}
