"""Wrong answers to the exercises 02.3, 02.4 and 02.6, all about noise, under the names of their mistakes, and what
holds of any right one: where negatives are drawn from, the loss that they make, and what it finds at its lowest."""

from collections.abc import Callable
from math import inf, log

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cosine_similarity, logsigmoid, normalize

from plmlab.exercises.mistakes import Mistakes, Properties, whole

# 02.3, the distribution that negatives are drawn from

NOISE: Mistakes = {
    "the power does nothing: these are the plain frequencies (counts * power is no power, and its factor cancels)":
        lambda counts, power: whole(counts),
    "these are powers, which do not add up to 1: divide by their sum": lambda counts, power: counts ** power,
    "the frequencies are raised after they were made to add up to 1, and now they do not: divide by the sum at the end":
        lambda counts, power: whole(counts) ** power,
    "the powers are divided by the sum of the counts; divide by the sum of the powers":
        lambda counts, power: counts ** power / counts.sum(),
    "the counts are divided by the sum of the powers; the powers are": lambda counts, power:
        counts / (counts ** power).sum(),
    "the frequencies are multiplied by the power: ** is the power, * is not": lambda counts, power:
        whole(counts) * power,
    "** comes before /: counts ** 3 / 4 is the cube, and a quarter of it; use the power that is given":
        lambda counts, power: whole(counts ** 3 / 4),
    "the power is always 3/4; here it is given": lambda counts, power: whole(counts ** 0.75),
    "the power stands on its head, 4/3 for 3/4: rare words become rarer": lambda counts, power:
        whole(counts ** (1 / power)),
    "the power is 1 − power": lambda counts, power: whole((counts ** (1 - power)).masked_fill(counts == 0, 0)),
    "the power is below 0: the rarest words come most often": lambda counts, power: whole(counts ** -power),
    "all words are equally likely: where did the power go? 3 // 4 is 0":
        lambda counts, power: torch.full(counts.shape, 1 / len(counts)),
    "all words that come are equally likely: where did the power go?": lambda counts, power: whole((counts > 0) * 1.0),
    "this is a softmax of the counts": lambda counts, power: counts.softmax(0),
    "this is a softmax of the powers; they are divided by their sum": lambda counts, power: (
        counts ** power).softmax(0),
    "this is a softmax of counts times power": lambda counts, power: (counts * power).softmax(0),
    "these are logarithms of the counts in the place of powers": lambda counts, power: whole(counts.log()),
    "these are logarithms of the counts and 1 in the place of powers": lambda counts, power: whole(
        counts.log1p()),
    "1 is added to every count, so that a word that never comes is drawn": lambda counts, power: whole(
        (counts + 1) ** power),
    "the powers are divided by the largest of them; divide by their sum": lambda counts, power:
        counts ** power / (counts ** power).max(),
    "the powers are brought to length 1, so that their squares add up to 1; divide by their sum":
        lambda counts, power: normalize(counts ** power, dim=0),
    "these are the chances added up from the first word on, as a table to draw from; asked is each word's own chance":
        lambda counts, power: whole(counts ** power).cumsum(0),
    "// leaves whole numbers, here 0: divide with /": lambda counts, power: counts ** power // (counts ** power).sum(),
    "these are logarithms of the chances": lambda counts, power: whole(counts ** power).log(),
}

OF_NOISE: Properties = {
    "a chance lies beyond 0 and 1": lambda out, counts, power: bool(((out >= 0) & (out <= 1 + 1e-4)).all()),
    "the chances do not add up to 1": lambda out, counts, power: abs(float(out.sum()) - 1) < 1e-3,
    "a word that never comes is drawn": lambda out, counts, power: bool((out[counts == 0].abs() < 1e-6).all()),
}


# 02.4, the loss of negative sampling

def dots(word: Tensor, others: Tensor) -> Tensor:
    """The score of each word with each of its negatives, [batch negative]."""
    return (word[:, None] * others).sum(-1)


def near_and_far(word: Tensor, context: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
    """The scores of the pairs [batch] and of the negatives [batch negative]."""
    return (word * context).sum(-1), dots(word, negatives)


def made_of(make: Callable[[Tensor, Tensor], Tensor], scores: Callable[..., tuple[Tensor, Tensor]] = near_and_far,
            ) -> Callable[..., Tensor]:
    """A loss that is made of two tables of scores; ``scores`` may find these otherwise."""
    return lambda *args: make(*scores(*args))


def right(near: Tensor, far: Tensor) -> Tensor:
    """The exercise's own loss, of any two tables of scores."""
    return -(logsigmoid(near).mean() + logsigmoid(-far).sum(-1).mean())


def as_labels(near: Tensor, far: Tensor, reduction: str) -> Tensor:
    """The binary cross-entropy of all scores, of which the first of each row is to be 1."""
    scores = torch.cat([near[:, None], far], 1)
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1
    return binary_cross_entropy_with_logits(scores, labels, reduction=reduction)


def per_number(word: Tensor, context: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
    """Products that were not added up, [batch model] and [batch negative model]."""
    return word * context, word[:, None] * negatives


LOSS: Mistakes = {
    "the negatives' part is averaged over k; it is added up":
        made_of(lambda near, far: -(logsigmoid(near) + logsigmoid(-far).mean(-1)).mean()),
    "this is the mean over pairs and negatives alike, batch · (1 + k) of them; divide by the batch alone":
        made_of(lambda near, far: as_labels(near, far, "mean")),
    "the batch is added up; asked is its mean": made_of(lambda near, far: as_labels(near, far, "sum")),
    "this is one loss for each pair of the batch; asked is their mean":
        made_of(lambda near, far: -logsigmoid(near) - logsigmoid(-far).sum(-1)),
    "the sign is wrong: a loss is minus the logarithm": made_of(lambda near, far: -right(near, far)),
    "the negatives are drawn near: in their part the score has a minus, σ(−w·n)":
        made_of(lambda near, far: right(near, -far)),
    "the right pair is pushed apart: its score has no minus, σ(w·c)": made_of(lambda near, far: right(-near, far)),
    "the signs have changed places: it is σ(w·c) and σ(−w·n)": made_of(lambda near, far: right(-near, -far)),
    "the negatives' part is taken away; both parts are minus a logarithm, and are added": made_of(
        lambda near, far: -logsigmoid(near).mean() + logsigmoid(-far).sum(-1).mean()),
    "the sigmoid of a score far below 0 is 0 in float32, and log 0 is −∞: "
    "torch.nn.functional.logsigmoid keeps the digits":
        made_of(lambda near, far: -(near.sigmoid().log() + (-far).sigmoid().log().sum(-1)).mean()),
    "the function binary_cross_entropy cuts every logarithm off at −100; binary_cross_entropy_with_logits takes the "
    "scores themselves, and keeps the digits": made_of(lambda near, far: -(
        near.sigmoid().log().clamp(min=-100) + (1 - far.sigmoid()).log().clamp(min=-100).sum(-1)).mean()),
    "the logarithm is missing": made_of(lambda near, far: -(near.sigmoid() + (-far).sigmoid().sum(-1)).mean()),
    "the negatives' part is 1 − log σ(w·n); it is −log(1 − σ(w·n)), which is −log σ(−w·n)":
        made_of(lambda near, far: (-logsigmoid(near) + (1 - logsigmoid(far)).sum(-1)).mean()),
    "the sigmoid is missing: these are the scores": made_of(lambda near, far: (far.sum(-1) - near).mean()),
    "the sigmoid is taken twice: logsigmoid takes it already":
        made_of(lambda near, far: right(near.sigmoid(), far.sigmoid())),
    "the sigmoid is taken twice: 1 − σ, and logsigmoid of it": made_of(
        lambda near, far: -(logsigmoid(near.sigmoid()) + logsigmoid(1 - far.sigmoid()).sum(-1)).mean()),
    "this is a softmax over the context and the negatives; each score has a sigmoid of its own": made_of(
        lambda near, far: (torch.cat([near[:, None], far], 1).logsumexp(1) - near).mean()),
    "the negatives are missing": made_of(lambda near, far: -logsigmoid(near).mean()),
    "the right pair is missing: these are the negatives alone": made_of(
        lambda near, far: -logsigmoid(-far).sum(-1).mean()),
    "each word is scored with every pair's context, as w @ c.T does; it has its own": made_of(
        right, lambda word, context, negatives: (word @ context.T, dots(word, negatives))),
    "each word meets the negatives of all pairs; each has its own": made_of(
        right, lambda word, context, negatives: ((word * context).sum(-1), word @ negatives.mT)),
    "each word meets the contexts and the negatives of all pairs; each has its own": made_of(
        right, lambda word, context, negatives: (word @ context.T, word @ negatives.mT)),
    "the product word * negatives lays the words along the negatives: word[:, None] gives each word to its own":
        made_of(right, lambda word, context, negatives: ((word * context).sum(-1), (word * negatives).sum(-1))),
    "the context is scored with the negatives; the word is": made_of(
        right, lambda word, context, negatives: ((word * context).sum(-1), dots(context, negatives))),
    "the negatives' scores are added before the sigmoid; each has a sigmoid of its own": made_of(
        lambda near, far: right(near, far.sum(-1, keepdim=True))),
    "the negatives' scores are averaged before the sigmoid; each has a sigmoid of its own": made_of(
        lambda near, far: right(near, far.mean(-1, keepdim=True))),
    "each number has a sigmoid; a score is a dot product, added up over the numbers": made_of(
        lambda near, far: -(logsigmoid(near).sum(-1) + logsigmoid(-far).sum((1, 2))).mean(), per_number),
    "each number has a sigmoid, and they are averaged; a score is a dot product, added up over the numbers": made_of(
        lambda near, far: -(logsigmoid(near).mean() + logsigmoid(-far).mean(-1).sum(-1).mean()), per_number),
    "the scores are averaged over the numbers; a dot product adds them up": made_of(
        right, lambda word, *others: tuple(s / word.shape[-1] for s in near_and_far(word, *others))),
    "the scores are divided by the root of the width; that is attention, and word2vec does not": made_of(
        right, lambda word, *others: tuple(s / word.shape[-1] ** 0.5 for s in near_and_far(word, *others))),
    "the scores are cosines; they are dot products": made_of(right, lambda word, context, negatives: (
        cosine_similarity(word, context), cosine_similarity(word[:, None], negatives, dim=-1))),
    "this is a margin, max(0, 1 − w·c + w·n); asked are logarithms of sigmoids": made_of(
        lambda near, far: (1 - near[:, None] + far).clamp(min=0).sum(-1).mean()),
}


def between(loss: Tensor, word: Tensor, context: Tensor, negatives: Tensor) -> bool:
    """Whether a loss is what scores of the wrong sign cost at least, and no more than log 2 for each score above it."""
    near, far = near_and_far(word, context, negatives)
    least = ((-near).clamp(min=0) + far.clamp(min=0).sum(-1)).mean()
    slack = 1e-3 * (1 + least)
    return bool(least - slack <= loss <= least + (1 + far.shape[1]) * log(2) + slack)


OF_A_LOSS: Properties = {
    "−log σ(x) is at least max(0, −x), and at most log 2 more; your loss is not. Is something added inside the "
    "logarithm, or is a sigmoid cut off?": between,
}


# 02.6, what the loss finds at its lowest

Context = Callable[[Tensor, float], Tensor]


def of_contexts(counts: Tensor, power: float) -> Tensor:
    """The chances of the contexts as noise, [context]."""
    return whole(counts.sum(0) ** power)


def of_words(counts: Tensor, _: float) -> Tensor:
    """The chances of the words, [word 1]."""
    return whole(counts.sum(1, keepdim=True))


def ratio(words: Context = of_words, contexts: Context = of_contexts, joint: Callable[[Tensor], Tensor] = whole,
          ) -> Callable[[Tensor, float], Tensor]:
    """How much more often a pair comes than by chance, with some chances otherwise; 0 where it never comes."""
    return lambda counts, power: (joint(counts) / (words(counts, power) * contexts(counts, power))).masked_fill(
        counts == 0, 0)


def less_log_k(found: Callable[[Tensor, float], Tensor]) -> Callable[[Tensor, int, float], Tensor]:
    """The logarithm of some ratio, less log k."""
    return lambda counts, k, power: found(counts, power).log() - log(k)


def of_the_ratio(make: Callable[[Tensor, int], Tensor]) -> Callable[[Tensor, int, float], Tensor]:
    """The right ratio, and something else made of it and of k."""
    return lambda counts, k, power: make(ratio()(counts, power), k)


def without_a_guard(counts: Tensor, k: int, power: float) -> Tensor:
    """NaN where a word or a context never comes."""
    return (whole(counts) / (of_words(counts, power) * of_contexts(counts, power))).log() - log(k)


def one(counts: Tensor, _: float) -> Tensor:
    """1, where a chance should be."""
    return torch.ones(())


SHIFTED: Mistakes = {
    "the shift is missing: this is the PMI, without − log k": of_the_ratio(lambda r, k: r.log()),
    "the shift has the wrong sign: it is − log k": of_the_ratio(lambda r, k: r.log() + log(k)),
    "a / b * c is (a / b) · c: put P(w) · Q(c) in parentheses": lambda counts, k, power:
        (whole(counts) / of_words(counts, power) * of_contexts(counts, power) / k).log().masked_fill(counts == 0, -inf),
    "the shift is k itself; it is log k": of_the_ratio(lambda r, k: r.log() - k),
    "the PMI is divided by k; log k is taken away": of_the_ratio(lambda r, k: r.log() / k),
    "what is below 0 is made 0, after the shift; that is another matrix, the positive one":
        of_the_ratio(lambda r, k: (r.log() - log(k)).clamp(min=0)),
    "what is below 0 is made 0, and there is no shift; that is another matrix, PPMI":
        of_the_ratio(lambda r, k: r.log().clamp(min=0)),
    "what is below 0 is made 0 before the shift; nothing is cut off here":
        of_the_ratio(lambda r, k: r.log().clamp(min=0) - log(k)),
    "a pair that never comes has 0, as if it came as often as by chance; it has −∞": lambda counts, k, power:
        less_log_k(ratio())(counts, k, power).masked_fill(counts == 0, 0),
    "where a word or a context never comes there is 0; −∞ stands there, as for every pair that never comes":
        lambda counts, k, power: without_a_guard(counts, k, power).nan_to_num(0, neginf=-inf),
    ".nan_to_num makes the smallest number of −∞, too, unless neginf says otherwise": lambda counts, k, power:
        without_a_guard(counts, k, power).nan_to_num(-inf),
    ".nan_to_num makes 0 of NaN, and the smallest number of −∞, unless nan and neginf say otherwise":
        lambda counts, k, power: without_a_guard(counts, k, power).nan_to_num(),
    "0 divided by 0 is NaN: where a word or a context never comes there is −∞": without_a_guard,
    "the power is missing: these are the contexts' plain frequencies": less_log_k(
        ratio(contexts=lambda counts, power: whole(counts.sum(0)))),
    "the power is always 3/4; here it is given": lambda counts, k, power: less_log_k(ratio())(counts, k, 0.75),
    "the power is on the words; it belongs to the contexts, which negatives are drawn from": less_log_k(ratio(
        lambda counts, power: whole(counts.sum(1, keepdim=True) ** power), lambda counts, power: whole(counts.sum(0)))),
    "the power is on words and contexts; it belongs to the contexts alone": less_log_k(ratio(
        lambda counts, power: whole(counts.sum(1, keepdim=True) ** power))),
    "the contexts' chances are raised and do not add up to 1 any more: divide by their sum at the end": less_log_k(
        ratio(contexts=lambda counts, power: whole(counts.sum(0)) ** power)),
    "the contexts' powers are not divided by their sum, so that they are no chances": less_log_k(
        ratio(contexts=lambda counts, power: counts.sum(0) ** power)),
    "the contexts' powers are divided by the sum of the counts; divide by the sum of the powers": less_log_k(
        ratio(contexts=lambda counts, power: counts.sum(0) ** power / counts.sum())),
    "each count is raised before the column is added up; the column's sum is raised": less_log_k(
        ratio(contexts=lambda counts, power: whole((counts ** power).sum(0)))),
    "the pairs' counts are not divided by their sum": less_log_k(ratio(joint=torch.clone)),
    "the contexts' chances are missing: this is how likely a context is beside its word": less_log_k(
        ratio(contexts=one)),
    "the words' chances are missing": less_log_k(ratio(words=one)),
    "the words' and the contexts' chances are missing": less_log_k(ratio(one, one)),
    "the words' chances lie along the contexts: .sum(1) needs keepdim=True": less_log_k(
        ratio(lambda counts, power: whole(counts.sum(1)))),
    "the logarithm is missing: this is the ratio, divided by k": of_the_ratio(lambda r, k: r / k),
    "the logarithm of the ratio is missing: only k has one": of_the_ratio(lambda r, k: r - log(k)),
    "these are logarithms to base 2; log is to base e": of_the_ratio(lambda r, k: (r / k).log2()),
    "these are logarithms to base 10; log is to base e": of_the_ratio(lambda r, k: (r / k).log10()),
    "the logarithm to base 2 meets a shift to base e": of_the_ratio(lambda r, k: r.log2() - log(k)),
    "1 is added to every count, so that no pair is −∞": lambda counts, k, power: less_log_k(ratio())(
        counts + 1, k, power),
    "the ratio stands on its head": of_the_ratio(lambda r, k: -r.log() - log(k)),
    "one logarithm is divided by the other: log(a / b) is log a − log b": lambda counts, k, power: whole(
        counts).log() / (of_words(counts, power) * of_contexts(counts, power)).log() - log(k),
    "the PMI is multiplied by the pair's share; asked is the PMI itself": lambda counts, k, power:
        torch.special.xlogy(whole(counts), ratio()(counts, power)) - log(k),
    "the answer lies on its side: rows are words": lambda counts, k, power: less_log_k(ratio())(
        counts, k, power).T,
}

OF_A_SHIFTED_PMI: Properties = {
    "a number is above −log Q(c) − log k: as if a pair came more often than its word does":
        lambda out, counts, k, power: bool((out <= -of_contexts(counts, power).log() - log(k) + 1e-3).all()),
}
