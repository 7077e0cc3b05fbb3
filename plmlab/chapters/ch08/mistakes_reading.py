"""Wrong answers to the exercises 08.4 to 08.6, what is read off a BERT, under the names of their mistakes, and what
holds of any right one."""

from collections.abc import Callable
from math import log

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.exercises.mistakes import Mistakes, Properties, whole

# 08.4, the best span

Span = tuple[int, int]


def best(start: Tensor, end: Tensor, allowed: Callable[[int, int], bool],
         score: Callable[[Tensor, Tensor], Tensor] = torch.add) -> Span:
    """The span with the largest score of all that are allowed."""
    slots = range(len(start))
    spans = [(i, j) for i in slots for j in slots if allowed(i, j)]
    return max(spans, key=lambda ends: float(score(start[ends[0]], end[ends[1]])))


def right(start: Tensor, end: Tensor, first: int, longest: int) -> Span:
    """The span that the exercise asks for."""
    return best(start, end, fits(first, longest))


def fits(first: int, longest: int) -> Callable[[int, int], bool]:
    """A function that says whether a span (i, j) is allowed: in the text, not backwards,
    not longer than ``longest``."""
    return lambda i, j: first <= i <= j < i + longest


def from_start(start: Tensor, end: Tensor, first: int, longest: int) -> Span:
    """The best start in the text, then the best end that is allowed with it."""
    i = first + int(start[first:].argmax())
    return i, i + int(end[i:i + longest].argmax())


def from_end(start: Tensor, end: Tensor, first: int, longest: int) -> Span:
    """The best end in the text, then the best start that is allowed with it."""
    j = first + int(end[first:].argmax())
    i = max(first, j - longest + 1)
    return i + int(start[i:j + 1].argmax()), j


def from_zero(begin: Callable[[int], Span | None]) -> Callable[..., Span | None]:
    """The exercise's function with a maximum that starts at 0: where no sum is above it, the answer is still what it
    was at the ``begin``, given the first slot of the text."""
    def answer(start: Tensor, end: Tensor, first: int, longest: int) -> Span | None:
        i, j = right(start, end, first, longest)
        return (i, j) if start[i] + end[j] > 0 else begin(first)
    return answer


def unbound(first: int) -> Span:
    """What Python says of a name that was never given a value."""
    raise UnboundLocalError


def filled_with_zero(start: Tensor, end: Tensor, first: int, longest: int) -> Span:
    """The best cell of a table of all sums in the text, with 0 where a span is not allowed."""
    table = (start[first:, None] + end[first:]).triu().tril(longest - 1)
    return first + int(table.argmax()) // len(table), first + int(table.argmax()) % len(table)


SPAN: Mistakes = {
    "0 is more than any sum where all logits are negative: let a maximum start at −∞, or fill a table with −∞":
        from_zero(lambda _: (0, 0)),
    "0 is more than any sum where all logits are negative: what is not allowed in the table must be −∞":
        filled_with_zero,
    "a maximum that starts at 0 finds nothing where all logits are negative, only the first slot of the text":
        from_zero(lambda first: (first, first)),
    "a maximum that starts at 0 finds nothing where all logits are negative, and the answer is None":
        from_zero(lambda _: None),
    "a maximum that starts at 0 finds nothing where all logits are negative, and the answer is −1, −1":
        from_zero(lambda _: (-1, -1)),
    "a maximum that starts at 0 finds nothing where all logits are negative, and the answer never gets a value":
        from_zero(unbound),
    "start and end are chosen each for itself, among all slots; it is their sum that counts, over allowed spans":
        lambda start, end, *_: (int(start.argmax()), int(end.argmax())),
    "start and end are chosen each for itself, among the slots of the text; it is their sum that counts, over "
    "allowed spans": lambda start, end, first, _:
        (first + int(start[first:].argmax()), first + int(end[first:].argmax())),
    "the best start is fixed before an end is sought for it; a lesser start may go with a far better end": from_start,
    "the best end is fixed before a start is sought for it; a lesser end may go with a far better start": from_end,
    "a span may end before it starts": lambda start, end, first, longest:
        best(start, end, lambda i, j: i >= first <= j < i + longest),
    "a span may have any length": lambda start, end, first, _: best(start, end, lambda i, j: first <= i <= j),
    "a span may be one token too long: from i to j it has j − i + 1":
        lambda start, end, first, longest: best(start, end, fits(first, longest + 1)),
    "a span of `longest` tokens is not tried: from i to j it has j − i + 1, not one more":
        lambda start, end, first, longest: best(start, end, fits(first, longest - 1)),
    "an answer of a single token is not tried: it starts and ends in one slot":
        lambda start, end, first, longest: best(start, end, lambda i, j: first <= i < j < i + longest),
    "a span may lie in the question": lambda start, end, first, longest: best(start, end, fits(0, longest)),
    "a span may start in the question: only its end is kept out": lambda start, end, first, longest:
        best(start, end, lambda i, j: i <= j < i + longest and j >= first),
    "the first slot of the text is never tried":
        lambda start, end, first, longest: best(start, end, fits(first + 1, longest)),
    "the last slot is never tried": lambda start, end, first, longest:
        best(start[:-1], end[:-1], fits(first, longest)),
    "slots are counted from the first of the text; [CLS] is 0": lambda start, end, first, longest:
        best(start[first:], end[first:], fits(0, longest)),
    "the end is the slot behind the last token, as in a slice; the last token's own is asked for":
        lambda *args: (right(*args)[0], right(*args)[1] + 1),
    "the end comes first; give (i, j), the start first": lambda *args: right(*args)[::-1],
    "start and end logits have changed places": lambda start, end, *rest: right(end, start, *rest),
    "the logits are multiplied; they are logarithms, and probabilities multiply where these add":
        lambda start, end, *rest: best(start, end, fits(*rest), torch.mul),
    "the probabilities are added; they multiply, and it is the logits that add":
        lambda start, end, *rest: right(start.softmax(0), end.softmax(0), *rest),
}


# 08.5, two words at once

def product(joint: Tensor) -> Tensor:
    """What two guesses make of the pair that know nothing of each other: the product of the marginals, [one other]."""
    return joint.sum(1)[:, None] * joint.sum(0)


def divergence(truth: Tensor, guess: Tensor) -> Tensor:
    """KL(truth ‖ guess) in nats."""
    return torch.xlogy(truth, truth / guess).nansum()


def guessed(guess: Callable[[Tensor], Tensor]) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    """The exercise's function with another guess in the place of the product."""
    return lambda joint: (guess(joint), divergence(joint, guess(joint)))


def measured(loss: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    """The exercise's function that measures something else than the divergence of joint and product."""
    return lambda joint: (product(joint), loss(joint, product(joint)))


AT_ONCE: Mistakes = {
    "this is the joint itself: the second guess knows the first, and nothing is lost": guessed(torch.clone),
    "the rows' chances are missing: each row holds those of the columns":
        guessed(lambda joint: joint.sum(0).expand_as(joint)),
    "the columns' chances are missing: each column holds those of the rows":
        guessed(lambda joint: joint.sum(1, keepdim=True).expand_as(joint)),
    "all words are taken for equally likely": guessed(lambda joint: torch.full_like(joint, 1 / joint.numel())),
    "the chances of a row or column are averaged, not added up":
        guessed(lambda joint: joint.mean(1, keepdim=True) * joint.mean(0)),
    "the product lies on its side: its rows are those of `joint`":
        guessed(lambda joint: torch.outer(joint.sum(0), joint.sum(1))),
    "the largest chance of each row and column is taken, not the sum":
        guessed(lambda joint: joint.amax(1, keepdim=True) * joint.amax(0)),
    "pairs that never come get no chance; the reader that guesses each alone cannot know them":
        guessed(lambda joint: whole(product(joint) * (joint > 0))),
    "0 · ln 0 is NaN to the computer: leave out the pairs that never come":
        measured(lambda joint, product: (joint * (joint / product).log()).sum()),
    "a word that never comes has the chance 0 in the product too, and 0 · ln 0 is NaN to kl_div: leave such pairs out":
        measured(lambda joint, product: F.kl_div(product.log(), joint, reduction="sum")),
    "joint and product have changed places in the divergence: what is true weighs, what is guessed divides":
        measured(lambda joint, product: (product * (product / joint).log()).sum()),
    "joint and product have changed places in the divergence, and what is infinite in it is left out":
        measured(lambda joint, product: divergence(product[joint > 0], joint[joint > 0])),
    "the logarithm is missing: Σ joint · joint / product": measured(lambda joint, product: (joint * joint / product)
                                                                    [joint > 0].sum()),
    "kl_div wants the logarithm of the guess: kl_div(product.log(), joint)":
        measured(lambda joint, product: F.kl_div(product, joint, reduction="sum")),
    "the sum is divided by the number of rows; kl_div does so with reduction=\"batchmean\", and \"sum\" adds up":
        measured(lambda joint, product: divergence(joint, product) / len(joint)),
    "one logarithm is divided by the other; the logarithm of a quotient is their difference":
        measured(lambda joint, product: (joint * joint.log() / product.log())[joint > 0].sum()),
    "the divergence comes first; give the product, then its divergence": lambda joint:
        (divergence(joint, product(joint)), product(joint)),
    "the logarithm is taken of product / joint: the sign is wrong":
        measured(lambda joint, product: -divergence(joint, product)),
    "these are bits: nats take the natural logarithm":
        measured(lambda joint, product: divergence(joint, product) / log(2)),
    "the pairs are averaged; `joint` weighs them already, so they are added up":
        measured(lambda joint, product: divergence(joint, product) / joint.numel()),
    "the pairs that come are averaged; `joint` weighs them already, so they are added up":
        measured(lambda joint, product: divergence(joint, product) / (joint > 0).sum()),
    "the logarithms are added up as they are; each is weighed by how likely its pair is":
        measured(lambda joint, product: (joint / product)[joint > 0].log().sum()),
    "this is the entropy of the pair, all that is uncertain; asked is how much more uncertain the product is":
        measured(lambda joint, product: -torch.xlogy(joint, joint).sum()),
    "this is the cross-entropy, −Σ joint · ln product: the entropy of the pair is still in it":
        measured(lambda joint, product: -torch.xlogy(joint, product).sum()),
}

OF_A_PRODUCT: Properties = {
    "the product does not add up to 1": lambda out, _: abs(float(out[0].sum()) - 1) < 1e-4,
    "a word of the first slot is not as likely in the product as in the joint":
        lambda out, joint: torch.allclose(out[0].sum(1), joint.sum(1), atol=1e-4),
    "a word of the second slot is not as likely in the product as in the joint":
        lambda out, joint: torch.allclose(out[0].sum(0), joint.sum(0), atol=1e-4),
    "what is lost lies between 0 and the logarithm of the number of words; yours does not":
        lambda out, joint: -1e-4 <= float(out[1]) <= log(min(joint.shape)) + 1e-4,
}


# 08.6, a head and a relation

def itself(special: Tensor, links: Tensor) -> Tensor:
    """Whether each slot is the link's own query, [link key]."""
    return F.one_hot(links[:, 1], special.shape[1]).bool()


def rows(weights: Tensor, links: Tensor) -> Tensor:
    """What the query of each link looks at, [link head key]."""
    return weights[links[:, 0], :, links[:, 1]]


def strongest(cells: Tensor, out: Tensor) -> Tensor:
    """The key with the largest of the cells that are not left out, [link head]."""
    return cells.masked_fill(out[:, None], -1).argmax(-1)


def hits(cells: Tensor, out: Tensor, goal: Tensor) -> Tensor:
    """1 where the strongest key is the goal, [link head]."""
    return (strongest(cells, out) == goal[:, None]).float()


def left_out(special: Tensor, links: Tensor) -> Tensor:
    """Whether each slot is left out of what a link is judged by: special tokens and the query itself, [link key]."""
    return special[links[:, 0]] | itself(special, links)


def known(weights: Tensor, special: Tensor, links: Tensor) -> Tensor:
    """Whether each head knows each link, as the exercise wants it, [link head]."""
    return hits(rows(weights, links), left_out(special, links), links[:, 2])


def cut_out(weights: Tensor, special: Tensor, links: Tensor) -> Tensor:
    """What is known if the special tokens are taken out of a row, so that the keys behind them have lower numbers."""
    keys = strongest(rows(weights, links), left_out(special, links))
    moved = keys - special[links[:, 0]].cumsum(-1).gather(-1, keys)
    return (moved == links[:, 2:]).float()


def text_means(found: Tensor, links: Tensor) -> Tensor:
    """The mean over texts of the mean over a text's links, [head]."""
    return torch.stack([found[links[:, 0] == text].mean(0) for text in links[:, 0].unique()]).mean(0)


HEADS: Mistakes = {
    "it asks which slot looks most at `from`; weights[text, head, query, key] has the queries first":
        lambda w, special, links: known(w.mT, special, links).mean(0),
    "the links are followed backwards, from `to` to `from`":
        lambda w, special, links: known(w, special, links[:, [0, 2, 1]]).mean(0),
    "special tokens are not left out": lambda w, special, links:
        hits(rows(w, links), itself(special, links), links[:, 2]).mean(0),
    "slot `from` itself is not left out": lambda w, special, links:
        hits(rows(w, links), special[links[:, 0]], links[:, 2]).mean(0),
    "nothing is left out: neither special tokens nor slot `from` itself": lambda w, special, links:
        hits(rows(w, links), torch.zeros_like(itself(special, links)), links[:, 2]).mean(0),
    "special tokens are cut out of the row, and the slots behind them get other numbers: give them −1 where they stand":
        lambda *args: cut_out(*args).mean(0),
    "no head knows any link: is `special` turned round? True marks what is left out": lambda w, special, links:
        known(w, ~special, links).mean(0),
    "each text has its own share, and these are averaged; every link counts alike":
        lambda w, special, links: text_means(known(w, special, links), links),
    "the links are counted; the share is asked for": lambda *args: known(*args).sum(0),
    "the sum is divided by the number of texts, not of links":
        lambda w, special, links: known(w, special, links).sum(0) / len(w),
    "this is the mean weight from `from` to `to`; asked is how often it is the largest":
        lambda w, special, links: rows(w, links)[torch.arange(len(links)), :, links[:, 2]].mean(0),
    "it wants more than half of the weight; more than any other slot gets is enough": lambda w, special, links:
        (rows(w, links)[torch.arange(len(links)), :, links[:, 2]] > 0.5).float().mean(0),
    "all links are looked up in the first text": lambda w, special, links:
        known(w, special, links * torch.tensor([0, 1, 1])).mean(0),
    "the special tokens of the first text are left out in all texts": lambda w, special, links:
        known(w, special[:1].expand_as(special), links).mean(0),
    "the heads are averaged before they are asked; each has a score of its own": lambda w, special, links:
        known(w.mean(1, keepdim=True).expand_as(w), special, links).mean(0),
}

OF_SHARES: Properties = {
    "a score is no share of the links, not so many of so many": lambda out, w, special, links: bool(
        ((out * len(links)).round() / len(links) - out).abs().max() < 1e-3 and out.min() >= 0 and out.max() <= 1),
}
