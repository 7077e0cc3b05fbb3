"""Wrong answers to the exercises 02.1, 02.2 and 02.5, the words near a word and the vectors near a vector, under the
names of their mistakes, and what holds of any right one."""

from collections.abc import Callable, Iterable
from math import inf

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, normalize

from plmlab.exercises.mistakes import Mistakes, Properties

# 02.1, the pairs of a window

Ids = list[int]
Pair = tuple[int, int]


def of_words(words: Ids, i: int, j: int) -> Pair:
    """The words at two places."""
    return words[i], words[j]


def paired(
    places: Callable[[int, Ids, Ids], Iterable[int]], make: Callable[[Ids, int, int], Pair] = of_words,
    order: Callable[[list[Pair]], Iterable[Pair]] = list,
) -> Callable[[Ids, Ids], Tensor]:
    """The exercise's function with other places, ``places(i, words, reach)``, in the window of place i; ``make`` a pair
    of two places otherwise, or lay all pairs in another ``order``."""
    return lambda words, reach: torch.tensor(list(order([
        make(words, i, j) for i in range(len(words)) for j in places(i, words, reach)])))


def where(near: Callable[[int, int, Ids, Ids], bool], **how: Callable) -> Callable[[Ids, Ids], Tensor]:
    """The pairs of all places i and j that are ``near(i, j, words, reach)``."""
    return paired(lambda i, words, reach: [j for j in range(len(words)) if near(i, j, words, reach)], **how)


def right(i: int, j: int, _: Ids, reach: Ids) -> bool:
    """The exercise's own rule."""
    return 0 < abs(i - j) <= reach[i]


def within(reach: Callable[[Ids], int]) -> Callable[[Ids, Ids], Tensor]:
    """The pairs with one reach for all places."""
    return where(lambda i, j, words, own: 0 < abs(i - j) <= reach(own))


def outward(i: int, words: Ids, reach: Ids) -> Ids:
    """The places of a window, the nearest first."""
    near = [j for j in range(len(words)) if right(i, j, words, reach)]
    return sorted(near, key=lambda j: abs(i - j))


def from_below(i: int, words: Ids, reach: Ids) -> Ids:
    """The places i − reach … i + reach without i, where a place below 0 is counted from the end."""
    return [j for j in range(i - reach[i], i + reach[i] + 1) if j != i and j < len(words)]


def around(i: int, words: Ids, reach: Ids) -> Ids:
    """The places of a window on a ring."""
    return [j % len(words) for j in range(i - reach[i], i + reach[i] + 1) if j != i]


def first_removed(i: int, words: Ids, reach: Ids) -> Ids:
    """The places of a window without the first that holds the same word as place i."""
    window = [j for j in range(len(words)) if abs(i - j) <= reach[i]]
    window.remove(next(j for j in window if words[j] == words[i]))
    return window


def at_the_first(i: int, words: Ids, reach: Ids) -> Ids:
    """The places in the window of the first place that holds the same word as place i."""
    return [j for j in range(len(words)) if right(words.index(words[i]), j, words, reach)]


PAIRS: Mistakes = {
    "the word is paired with itself; its own place is left out": where(lambda i, j, words, reach:
                                                                       abs(i - j) <= reach[i]),
    "only the words to the right are taken; a window goes to both sides": where(lambda i, j, words, reach:
                                                                                0 < j - i <= reach[i]),
    "only the words to the left are taken; a window goes to both sides": where(lambda i, j, words, reach:
                                                                               0 < i - j <= reach[i]),
    "a place below 0 counts from the end, so that words[-1] is the last word: a window ends where the sentence does":
        paired(from_below),
    "the sentence is a ring, and its end is near its beginning: a window ends where the sentence does": paired(around),
    "a slice that begins below 0, words[i - r:i], counts from the end and is empty: begin at max(0, i - r)":
        paired(lambda i, words, reach: [*range(len(words))[i - reach[i]:i],
                                        *range(len(words))[i + 1:i + reach[i] + 1]]),
    "a slice that begins below 0, words[i - r:i + r + 1], counts from the end, and the window is lost: begin at "
    "max(0, i - r)": paired(lambda i, words, reach: [
        j for j in range(len(words))[i - reach[i]:i + reach[i] + 1] if j != i]),
    "the last word on the right is missing: range(i - r, i + r) ends before i + r":
        where(lambda i, j, words, reach: i != j and -reach[i] <= j - i < reach[i]),
    "the last word on the left is missing: a place that is just reach[i] away is still near":
        where(lambda i, j, words, reach: i != j and -reach[i] < j - i <= reach[i]),
    "the words that are just reach[i] away are missing: it is <=, not <":
        where(lambda i, j, words, reach: 0 < abs(i - j) < reach[i]),
    "the window goes one word too far to the right": where(lambda i, j, words, reach:
                                                           i != j and -reach[i] <= j - i <= reach[i] + 1),
    "the window goes one word too far on both sides": where(lambda i, j, words, reach:
                                                            0 < abs(i - j) <= reach[i] + 1),
    "only the words that are just reach[i] away are taken; the nearer ones are in the window too":
        where(lambda i, j, words, reach: abs(i - j) == reach[i]),
    "the columns have changed places: the word comes first, then the word near it":
        where(right, make=lambda words, i, j: (words[j], words[i])),
    "these are places; asked are the words that stand there": where(right, make=lambda words, i, j: (i, j)),
    "this is the reach of the other place, j; the window is that of place i": where(lambda i, j, words, reach:
                                                                                    0 < abs(i - j) <= reach[j]),
    "every place has the first one's reach; each has its own": within(lambda reach: reach[0]),
    "every place has the largest reach; each has its own": within(max),
    "every place has the smallest reach; each has its own": within(min),
    "`reach` is not used: these are the words next to each word": within(lambda reach: 1),
    "`reach` is not used: every word is paired with every other": within(len),
    "the reach is halved; it counts the words on one side, not those of the whole window":
        where(lambda i, j, words, reach: 0 < abs(i - j) <= reach[i] // 2),
    "equal words are left out; it is the place that must differ, and a word may stand near itself":
        where(lambda i, j, words, reach: abs(i - j) <= reach[i] and words[i] != words[j]),
    ".remove takes away the first word that is equal, which may stand at another place: leave out place i":
        paired(first_removed),
    ".index gives the first place of a word; where it stands a second time it has another window: count the places":
        paired(at_the_first),
    "a pair that comes twice is given once; each time counts": where(right, order=dict.fromkeys),
    "a pair that comes twice is given once, and the pairs are sorted: a set forgets how often, and the order":
        where(right, order=lambda pairs: sorted(set(pairs))),
    "the pairs are sorted by their words; they come in the order of the places": where(right, order=sorted),
    "the pairs come in the order of j, and then of i; it is the other way round": lambda words, reach: torch.tensor([
        (words[i], words[j]) for j in range(len(words)) for i in range(len(words)) if right(i, j, words, reach)]),
    "the right side comes before the left; a window is read from left to right": paired(
        lambda i, words, reach: sorted(outward(i, words, reach), key=lambda j: (j < i, j))),
    "the left side is read backwards, from the word away; a window is read from left to right": paired(
        lambda i, words, reach: sorted(outward(i, words, reach), key=lambda j: (j > i, abs(i - j)))),
    "the nearest words come first; a window is read from left to right": paired(outward),
    "each pair is given in both directions; the other direction comes where place j has its own window":
        lambda words, reach: torch.tensor([pair for i in range(len(words)) for j in range(len(words)) if right(
            i, j, words, reach) for pair in ((words[i], words[j]), (words[j], words[i]))]),
    "the answer lies on its side: a row is a pair": lambda words, reach: where(right)(words, reach).T,
}

OF_PAIRS: Properties = {
    "a row holds a word that is not in the sentence": lambda out, words, reach: set(out.flatten().tolist()) <= {*words},
}


# 02.2, the mean of the context

def not_padding(contexts: Tensor, _: Tensor, pad: int) -> Tensor:
    """Whether a slot holds a word, [batch slots]."""
    return contexts != pad


def words_or_one(here: Tensor) -> Tensor:
    """How many words a row has, at least 1, [batch 1]; ``here`` is [batch slots 1]."""
    return here.sum(1).clamp(min=1)


def averaged(
    kept: Callable[[Tensor, Tensor, int], Tensor] = not_padding, by: Callable[[Tensor], Tensor | int] = words_or_one,
) -> Callable[[Tensor, Tensor, int], Tensor]:
    """The exercise's function with other slots that are kept, and another number to divide by, made of these."""
    def answer(contexts: Tensor, vectors: Tensor, pad: int) -> Tensor:
        here = kept(contexts, vectors, pad)[..., None].to(vectors.dtype)
        return (vectors[contexts] * here).sum(1) / by(here)
    return answer


def once(contexts: Tensor, _: Tensor, pad: int) -> Tensor:
    """Whether a slot holds a word that no slot before it holds, [batch slots]."""
    again = (contexts[:, :, None] == contexts[:, None]).tril(-1).any(-1)
    return (contexts != pad) & ~again


def up_to_padding(contexts: Tensor, _: Tensor, pad: int) -> Tensor:
    """Whether a slot stands before the first padding of its row, [batch slots]."""
    return (contexts != pad).long().cumprod(1).bool()


def padding_where_empty(contexts: Tensor, vectors: Tensor, pad: int) -> Tensor:
    """The right vectors, but where a row has no words that of the padding."""
    return torch.where((contexts == pad).all(1, keepdim=True), vectors[pad], averaged()(contexts, vectors, pad))


MEAN: Mistakes = {
    "a row is read up to its first padding; words stand behind padding too": averaged(up_to_padding),
    "these are sums; a sum is divided by the number of words": averaged(by=lambda here: 1),
    "padding counts in the mean: divide by the number of words, not of slots": averaged(by=lambda here: here.shape[1]),
    "padding's vector is in the mean as if it were a word's (padding_idx only keeps that vector from being trained)":
        lambda contexts, vectors, pad: vectors[contexts].mean(1),
    "padding's vector is in the sum, though the sum is divided by the number of words": lambda contexts, vectors, pad:
        vectors[contexts].sum(1) / words_or_one((contexts != pad)[..., None]),
    "these are sums, and padding's vector is in them": lambda contexts, vectors, pad: vectors[contexts].sum(1),
    "0 divided by 0 is NaN: a row of nothing but padding gives zeros": averaged(by=lambda here: here.sum(1)),
    "a row of nothing but padding gives padding's vector; it gives zeros": padding_where_empty,
    "the sums are divided by one more than the number of words": averaged(by=lambda here: here.sum(1) + 1),
    "the sums are divided by the number of words in the whole batch; each row has its own":
        averaged(by=lambda here: here.sum()),
    "the sums are divided by the square root of the number of words": averaged(by=lambda here: words_or_one(
        here).sqrt()),
    "the sums are brought to length 1; they are divided by the number of words": lambda contexts, vectors, pad:
        normalize(averaged(by=lambda here: 1)(contexts, vectors, pad)),
    "this is one vector, the mean over all words of the batch; each row has its own": lambda contexts, vectors, pad:
        vectors[contexts[contexts != pad]].mean(0),
    "the mean is over the last axis, the numbers of a vector; it is over the slots": lambda contexts, vectors, pad:
        vectors[contexts].mean(-1),
    "the mean is over the first axis, the rows of the batch; it is over the slots": lambda contexts, vectors, pad:
        vectors[contexts].mean(0),
    "the vectors are joined end to end; CBOW takes their mean": lambda contexts, vectors, pad:
        vectors[contexts].flatten(1),
    "the vectors are joined end to end, with zeros for padding; CBOW takes their mean": lambda contexts, vectors, pad:
        (vectors[contexts] * (contexts != pad)[..., None]).flatten(1),
    "padding is taken to be 0; it is `pad`": averaged(lambda contexts, vectors, pad: contexts != 0),
    "a vector of zeros is taken for padding; it may be a word's: `pad` says what padding is":
        averaged(lambda contexts, vectors, pad: vectors[contexts].any(-1)),
    "padding is taken to stand behind the words; it may stand in any slot": averaged(lambda contexts, vectors, pad:
        torch.arange(contexts.shape[1]) < (contexts != pad).sum(1, keepdim=True)),
    "the mask stands on its head: this is the mean of the padding": averaged(lambda contexts, vectors, pad:
        contexts == pad),
    "a word that comes twice counts once; each time counts": averaged(once),
    "this is the largest number over the words; CBOW takes the mean": lambda contexts, vectors, pad:
        vectors[contexts].masked_fill((contexts == pad)[..., None], -inf).amax(1),
    "this is the largest number over all slots, padding too; CBOW takes the mean of the words":
        lambda contexts, vectors, pad: vectors[contexts].amax(1),
    "the mean is of the ids, which say nothing; it is of their vectors": lambda contexts, vectors, pad:
        vectors[contexts.double().mean(1).long()],
}

def largest(contexts: Tensor, vectors: Tensor, pad: int) -> Tensor:
    """The largest number over the words of each row, 0 where it has none."""
    words = contexts != pad
    return vectors[contexts].masked_fill(~words[..., None], -inf).amax(1).masked_fill(~words.any(1, keepdim=True), 0)


OF_A_MEAN: Properties = {
    "a number is larger than that of every word near: a mean lies between what it is the mean of":
        lambda out, contexts, vectors, pad: bool((out <= largest(contexts, vectors, pad) + 1e-4).all()),
}


# 02.5, an analogy

Score = Callable[[Tensor, Tensor], Tensor]


def the_three(a: int, b: int, c: int) -> Ids:
    """The rows that are left out."""
    return [a, b, c]


def of_three(vectors: Tensor, a: int, b: int, c: int) -> Tensor:
    """b − a + c."""
    return vectors[b] - vectors[a] + vectors[c]


def unchanged(vectors: Tensor) -> Tensor:
    """The vectors as they are."""
    return vectors


def scored(
    query: Callable[..., Tensor] = of_three, ready: Callable[[Tensor], Tensor] = normalize, score: Score = torch.mv,
    left_out: Callable[[int, int, int], Ids] = the_three, instead: float = -inf,
) -> Callable[..., Tensor]:
    """The scores of all rows, with something in them otherwise; those left out have the score ``instead``."""
    def scores(vectors: Tensor, a: int, b: int, c: int) -> Tensor:
        made = ready(vectors)
        found = score(made, query(made, a, b, c))
        found[left_out(a, b, c)] = instead
        return found
    return scores


def best(scores: Callable[..., Tensor]) -> Callable[..., int]:
    """The row with the largest of some scores."""
    return lambda *args: int(scores(*args).argmax())


def ranked(rank: int) -> Callable[..., int]:
    """The row that comes so far behind the best (0) where nothing is left out."""
    return lambda *args: int(scored(left_out=lambda a, b, c: [])(*args).argsort(descending=True)[rank])


def from_zero(none: int | None) -> Callable[..., int | None]:
    """The right row if its score is above 0, else ``none``."""
    def answer(*args: Tensor | int) -> int | None:
        scores = scored()(*args)
        return int(scores.argmax()) if scores.max() > 0 else none
    return answer


def without_the_rows(vectors: Tensor, a: int, b: int, c: int) -> int:
    """The place of the best among the rows that are left when three are taken out."""
    return int(scored()(vectors, a, b, c)[[i for i in range(len(vectors)) if i not in (a, b, c)]].argmax())


def multiplied(vectors: Tensor, a: int, b: int, c: int) -> Tensor:
    """The scores of 3CosMul (Levy and Goldberg 2014): cos b · cos c / cos a, each brought to 0 … 1."""
    cosines = (normalize(vectors) @ normalize(vectors)[[a, b, c]].T + 1) / 2
    scores = cosines[:, 1] * cosines[:, 2] / (cosines[:, 0] + 1e-3)
    scores[[a, b, c]] = -inf
    return scores


def of_direction(vectors: Tensor, a: int, b: int, c: int) -> Tensor:
    """The cosines of the steps from c to every row with the step from a to b."""
    units = normalize(vectors)
    scores = cosine_similarity(units - units[c], (units[b] - units[a])[None])
    scores[[a, b, c]] = -inf
    return scores


def raw_and_units(vectors: Tensor, a: int, b: int, c: int) -> Tensor:
    """Dot products of the raw vectors with a query of unit vectors."""
    scores = vectors @ of_three(normalize(vectors), a, b, c)
    scores[[a, b, c]] = -inf
    return scores


def nearness(vectors: Tensor, query: Tensor) -> Tensor:
    """Minus the distance of each row from the query."""
    return -(vectors - query).norm(dim=1)


ANALOGY: Mistakes = {
    "the three words are not left out; b or c itself is often the nearest":
        best(scored(left_out=lambda a, b, c: [])),
    "only c is left out; a and b are, too": best(scored(left_out=lambda a, b, c: [c])),
    "one of the three, c, is not left out": best(scored(left_out=lambda a, b, c: [a, b])),
    "one of the three, a, is not left out": best(scored(left_out=lambda a, b, c: [b, c])),
    "one of the three, b, is not left out": best(scored(left_out=lambda a, b, c: [a, c])),
    "the three get the score 0, which is the largest where all cosines are below 0: give them −∞":
        best(scored(instead=0.0)),
    "a maximum that starts at 0 finds nothing where all cosines are below 0: begin with −∞": from_zero(None),
    "a maximum that starts at 0 finds nothing where all cosines are below 0, and row 0 is given: begin with −∞":
        from_zero(0),
    "the vectors are not brought to length 1; dot products prefer long vectors": best(scored(ready=unchanged)),
    "the sum b − a + c is made of the raw vectors; bring all to length 1 first": best(scored(
        ready=unchanged, score=lambda vectors, query: cosine_similarity(vectors, query[None]))),
    "the sum is made of vectors of length 1, but the rows that it meets are raw": best(raw_and_units),
    "the columns are brought to length 1; a word's vector is a row": best(scored(ready=lambda v: normalize(v, dim=0))),
    "the vectors are divided by their sum of squares; the root is missing":
        best(scored(ready=lambda v: v / v.square().sum(1, keepdim=True))),
    "the vectors are divided by the sum of their numbers without signs; length is the root of the sum of squares":
        best(scored(ready=lambda v: normalize(v, p=1))),
    "this is the nearest by distance, of raw vectors; asked is the largest cosine":
        best(scored(ready=unchanged, score=nearness)),
    "the signs are wrong: this is a − b + c": best(scored(lambda v, a, b, c: v[a] - v[b] + v[c])),
    "the signs are wrong: this is a + b − c": best(scored(lambda v, a, b, c: v[a] + v[b] - v[c])),
    "the signs are wrong: this is a + b + c": best(scored(lambda v, a, b, c: v[a] + v[b] + v[c])),
    "− a is missing: this is b + c": best(scored(lambda v, a, b, c: v[b] + v[c])),
    "+ c is missing: this is b − a": best(scored(lambda v, a, b, c: v[b] - v[a])),
    "the step from a to b is missing: this is the nearest to c": best(scored(lambda v, a, b, c: v[c])),
    "this is the smallest cosine: the word that lies farthest off":
        lambda *args: int(scored(instead=inf)(*args).argmin()),
    "the largest cosine without its sign is taken; −1 is the opposite, not the nearest":
        best(scored(score=lambda v, query: (v @ query).abs())),
    "the row is counted in a table from which three rows were taken out; asked is the row in `vectors`":
        without_the_rows,
    "this is the fourth of all, as if the three were always the first three": ranked(3),
    "this is the second of all, as if one of the three were always the first and the others behind": ranked(1),
    "the cosines are multiplied and divided (3CosMul), which is another rule: here they are added": best(multiplied),
    "this compares the steps, from c and from a to b; asked is the row with the largest cosine to b − a + c":
        best(of_direction),
    "this is the largest cosine; asked is the row that has it": lambda *args: float(scored(
        score=lambda v, query: cosine_similarity(v, query[None]))(*args).max()),
    "this is the largest dot product; asked is the row that has it": lambda *args: float(scored()(*args).max()),
}
