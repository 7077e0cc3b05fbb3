"""Wrong answers to the exercises 04.4, 04.5 and 04.6, links between words and what a decoder reads in training, under
the names of their mistakes, and what holds of any right one."""

from collections.abc import Callable

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties

# 04.4, the alignment error rate

Links = set[tuple[int, int]]
Count = Callable[[Links, Links, Links], float]
Rate = Callable[[Links, Links, Links], float]


def found(links: Links, sure: Links, possible: Links) -> int:
    """|A ∩ S| + |A ∩ P|."""
    return len(links & sure) + len(links & possible)


def all_links(links: Links, sure: Links, possible: Links) -> int:
    """|A| + |S|."""
    return len(links) + len(sure)


def guarded(rate: Rate, empty: float = 0.0) -> Rate:
    """A rate, and ``empty`` where neither A nor S has a link."""
    return lambda links, sure, possible: rate(links, sure, possible) if links or sure else empty


def wrong(hits: Count = found, of: Count = all_links) -> Rate:
    """1 − hits / of."""
    return guarded(lambda *sets: 1 - hits(*sets) / of(*sets))


def swapped(links: Links) -> Links:
    """Each pair the other way round."""
    return {(source, target) for target, source in links}


def slots(place: int) -> Rate:
    """The rate of the slots of one side, whatever they are linked to."""
    def rate(*sets: Links) -> float:
        links, sure, possible = ({link[place] for link in part} for part in sets)
        return 1 - (len(links & sure) + len(links & possible)) / (len(links) + len(sure))
    return guarded(rate)


def of_both(links: Links, sure: Links, possible: Links) -> float:
    """1 − the harmonic mean of precision, on P, and recall, on S."""
    precision, recall = len(links & possible) / len(links), len(links & sure) / len(sure)
    return 1 - 2 * precision * recall / (precision + recall)


ERROR_RATE: Mistakes = {
    "the 1 − is missing: this is how right the links are": guarded(lambda *sets: found(*sets) / all_links(*sets)),
    "P is not used: S counts twice": wrong(lambda links, sure, possible: 2 * len(links & sure)),
    "P counts twice, and A ∩ S does not count": wrong(lambda links, sure, possible: 2 * len(links & possible)),
    "a sure link counts once above; it counts twice, for it is in P too": wrong(
        lambda links, sure, possible: len(links & possible)),
    "A ∩ P is missing above: S alone counts, once": wrong(lambda links, sure, possible: len(links & sure)),
    "this is divided by |A| + |P|; it is |A| + |S|": wrong(of=lambda links, sure, possible: len(links) + len(possible)),
    "this is divided by the number of different links in A and S, |A ∪ S|; it is |A| + |S|": wrong(
        of=lambda links, sure, possible: len(links | sure)),
    "this is divided by |S| + |P|; it is |A| + |S|": wrong(of=lambda links, sure, possible: len(sure) + len(possible)),
    "this is divided by |A| only; it is |A| + |S|": wrong(of=lambda links, sure, possible: len(links)),
    "this is divided by |S| only; it is |A| + |S|": wrong(of=lambda links, sure, possible: len(sure)),
    "this is the precision on P: |A ∩ P| / |A|": guarded(
        lambda links, sure, possible: len(links & possible) / len(links)),
    "this is 1 − the precision on P; what is not found counts too": wrong(
        lambda links, sure, possible: len(links & possible), lambda links, *_: len(links)),
    "this is the recall on S: |A ∩ S| / |S|": guarded(lambda links, sure, possible: len(links & sure) / len(sure)),
    "this is 1 − the recall on S; what is found and wrong counts too": wrong(
        lambda links, sure, possible: len(links & sure), lambda links, sure, possible: len(sure)),
    "this is 1 − the F1 of precision and recall; the alignment error rate adds counts up before it divides":
        guarded(of_both),
    "this is 1 − the F1 on P; S is not used": guarded(
        lambda links, sure, possible: 1 - 2 * len(links & possible) / (len(links) + len(possible))),
    "this is 1 − |A ∩ S| / |A ∪ S|": wrong(
        lambda links, sure, possible: len(links & sure), lambda links, sure, possible: len(links | sure)),
    "| is what is in any of two sets; & is what is in both": wrong(
        lambda links, sure, possible: len(links | sure) + len(links | possible)),
    "only A ∩ P is divided: the sum above stands in parentheses": guarded(lambda links, sure, possible:
        1 - len(links & sure) + len(links & possible) / all_links(links, sure, possible)),
    "only A ∩ P is divided: the sum above stands in parentheses of its own, inside the outer ones": guarded(
        lambda links, sure, possible: 1 - (
            len(links & sure) + len(links & possible) / all_links(links, sure, possible))),
    "|S| is added at the end: the sum below stands in parentheses": guarded(lambda links, sure, possible:
        1 - found(links, sure, possible) / len(links) + len(sure)),
    "the 1 − stands inside the parentheses": guarded(lambda *sets: (1 - found(*sets)) / all_links(*sets)),
    "the rate is cut to a whole number: // is not /": guarded(
        lambda *sets: float(1 - found(*sets) // all_links(*sets))),
    "this is in percent; a share is asked": guarded(lambda *sets: 100 * wrong()(*sets)),
    "the pairs of A are the wrong way round: they are (target, source) in all three sets": lambda links, *marked:
        wrong()(swapped(links), *marked),
    "only the slots of the target are compared, not what they are linked to": slots(0),
    "only the slots of the source are compared, not what they are linked to": slots(1),
    "0 / 0: if neither A nor S has a link, nothing is wrong, and the rate is 0":
        lambda *sets: 1 - found(*sets) / all_links(*sets),
    "if neither A nor S has a link, nothing is wrong: the rate is 0, not 1": guarded(
        lambda *sets: 1 - found(*sets) / all_links(*sets), empty=1.0),
    "if A has no link the rate is not 0: sure links are not found": lambda *sets: wrong()(*sets) if sets[0] else 0.0,
    "if S has no link the rate is not 0: links may still be wrong": lambda *sets: wrong()(*sets) if sets[1] else 0.0,
    "if A or S has no link the rate is not 0: that holds only if both have none": lambda *sets: wrong()(
        *sets) if sets[0] and sets[1] else 0.0,
}


# 04.5, a round of IBM model 1

Ids = list[int]
Share = Callable[[Tensor, Ids, Ids], Tensor]
Round = Callable[[list[Ids], list[Ids], Tensor], Tensor]


def share(t: Tensor, source: Ids, target: Ids) -> Tensor:
    """What each word of a target, a row each, gives to each word of its source."""
    return whole(t[target][:, source], 1)


def whole(table: Tensor, axis: int) -> Tensor:
    """The table divided by its sums along an axis."""
    return table / table.sum(axis, keepdim=True)


def expected(sources: list[Ids], targets: list[Ids], t: Tensor, share: Share = share) -> Tensor:
    """The counts of all pairs of words, [target source]."""
    counts = torch.zeros_like(t)
    for source, target in zip(sources, targets, strict=True):
        counts.index_put_((torch.tensor(target)[:, None], torch.tensor(source)), share(t, source, target), True)
    return counts


def or_as_before(counts: Tensor, t: Tensor) -> Tensor:
    """The columns divided by their sums; t where a column is empty."""
    return torch.where(counts.sum(0) > 0, whole(counts, 0), t)


def shared(share: Share) -> Round:
    """The exercise's function with other shares of (t, source, target)."""
    return lambda sources, targets, t: or_as_before(expected(sources, targets, t, share), t)


def ended(make: Callable[[Tensor, Tensor], Tensor]) -> Round:
    """Something made of the right counts and t."""
    return lambda sources, targets, t: make(expected(sources, targets, t), t)


def right(sources: list[Ids], targets: list[Ids], t: Tensor) -> Tensor:
    """The exercise's function."""
    return or_as_before(expected(sources, targets, t), t)


def each_once(words: Ids) -> Ids:
    """Every word once."""
    return sorted(set(words))


def written_over(sources: list[Ids], targets: list[Ids], t: Tensor) -> Tensor:
    """``counts[target, source] += …``, which adds once where a place comes twice."""
    counts = torch.zeros_like(t)
    for source, target in zip(sources, targets, strict=True):
        counts[torch.tensor(target)[:, None], torch.tensor(source)] += share(t, source, target)
    return or_as_before(counts, t)


def written_anew(sources: list[Ids], targets: list[Ids], t: Tensor) -> Tensor:
    """``counts[target, source] = …``, so that the last time that two words meet is the only one."""
    counts = torch.zeros_like(t)
    for source, target in zip(sources, targets, strict=True):
        for f, row in zip(target, share(t, source, target), strict=True):
            for e, part in zip(source, row, strict=True):
                counts[f, e] = part
    return or_as_before(counts, t)


def row_by_row(sources: list[Ids], targets: list[Ids], t: Tensor) -> Tensor:
    """``counts[f, source] += …`` for each word f, which adds once where the source has a word twice."""
    counts = torch.zeros_like(t)
    for source, target in zip(sources, targets, strict=True):
        for f, row in zip(target, share(t, source, target), strict=True):
            counts[f, source] += row
    return or_as_before(counts, t)


def one_by_one(sources: list[Ids], targets: list[Ids], t: Tensor) -> Tensor:
    """A new table after each sentence."""
    for source, target in zip(sources, targets, strict=True):
        t = right([source], [target], t)
    return t


def hard(t: Tensor, source: Ids, target: Ids) -> Tensor:
    """All of a word to the likeliest word of the source."""
    return torch.eye(len(source))[t[target][:, source].argmax(1)]


IBM1: Mistakes = {
    "the rows are divided by their sums, .sum(1); it is the columns, one for each source word, .sum(0)": ended(
        lambda counts, t: torch.where(counts.sum(1, keepdim=True) > 0, whole(counts, 1), t)),
    "all counts are divided by one number, the sum of all; each column by its own": ended(
        lambda counts, t: counts / counts.sum()),
    "these are the counts: each column is divided by its sum at the end": ended(lambda counts, t: counts),
    "the counts lie on their side at the end: rows are target words": ended(
        lambda counts, t: or_as_before(counts, t).T),
    "a word gives t[f, e] itself: divide by the sum of t[f, …] over the words of the source": shared(
        lambda t, source, target: t[target][:, source]),
    "the shares are divided by the sum over the words of the target; it is over those of the source": shared(
        lambda t, source, target: whole(t[target][:, source], 0)),
    "the shares are divided by the sum over the whole vocabulary; only the words of this source count": shared(
        lambda t, source, target: t[target][:, source] / t[target].sum(1, keepdim=True)),
    "the shares are divided by the sum over all pairs of the sentence: each target word shares out 1": shared(
        lambda t, source, target: t[target][:, source] / t[target][:, source].sum()),
    "the shares are divided by the number of source words once more": shared(
        lambda t, source, target: share(t, source, target) / len(source)),
    "all words of a source get the same share: t is not used": shared(
        lambda t, source, target: torch.full((len(target), len(source)), 1 / len(source))),
    "each pair that meets counts 1: the count of a target word is shared out among the words of the source": shared(
        lambda t, source, target: torch.ones(len(target), len(source))),
    "the likeliest word of the source gets all; each gets its share": shared(hard),
    "the shares are a softmax of t; they are chances already: divide by their sum": shared(
        lambda t, source, target: t[target][:, source].softmax(1)),
    "a word that stands twice is counted once, in the target": lambda sources, targets, t: right(
        sources, [each_once(words) for words in targets], t),
    "a word that stands twice is counted once, in the source": lambda sources, targets, t: right(
        [each_once(words) for words in sources], targets, t),
    "a word that stands twice is counted once, in source and target": lambda sources, targets, t: right(
        [each_once(words) for words in sources], [each_once(words) for words in targets], t),
    "a place that comes twice is added to once by counts[…] += …; take index_put_ with accumulate=True, or loops":
        written_over,
    "a word that stands twice in a source is added to once by counts[f, source] += …; take index_put_ with "
    "accumulate=True, or one more loop": row_by_row,
    "a count is written over each time that two words meet: += adds, = does not": written_anew,
    "only the last sentence counts: the table of zeros is made before the loop": lambda sources, targets, t: right(
        sources[-1:], targets[-1:], t),
    "only the first sentence counts: the `return` stands inside the loop": lambda sources, targets, t: right(
        sources[:1], targets[:1], t),
    "the table t changes after each sentence; all sentences are read with the t that was given": one_by_one,
    "the counts are multiplied by t once more: the shares hold it already": ended(
        lambda counts, t: or_as_before(counts * t, t)),
    "the old table t is added to the counts; they begin with zeros": ended(lambda counts, t: whole(counts + t, 0)),
    "1 is added to each count, a smoothing that is not asked for": ended(lambda counts, t: whole(counts + 1, 0)),
    "0 / 0 is NaN: the column of a source word in no sentence stays as it was": ended(
        lambda counts, t: whole(counts, 0)),
    "the column of a source word in no sentence is set to 0; it stays as it was": ended(
        lambda counts, t: or_as_before(counts, torch.zeros_like(t))),
    "the column of a source word in no sentence has all words alike; it stays as it was": ended(
        lambda counts, t: or_as_before(counts, torch.full_like(t, 1 / len(t)))),
    "sources and targets have changed places: t[f, e] has the target word first": lambda sources, targets, t: right(
        targets, sources, t),
    "0 is put into each source as NULL; who wants it has put it there": lambda sources, targets, t: right(
        [[0, *words] for words in sources], targets, t),
    "these are logarithms of the chances": lambda sources, targets, t: right(sources, targets, t).log(),
    "nothing has changed: this is the t that was given": ended(lambda counts, t: t.clone()),
}

OF_A_TABLE: Properties = {
    "a chance lies beyond 0 and 1": lambda out, *_: bool(((out >= -1e-4) & (out <= 1 + 1e-4)).all()),
    "the chances of a column do not add up to 1": lambda out, *_: bool(((out.sum(0) - 1).abs() < 1e-3).all()),
}


# 04.6, scheduled sampling

Inputs = Callable[[Tensor, Tensor, Tensor, float, int], Tensor]
Kept = Callable[[Tensor, float], Tensor]


def before(inputs: Tensor, guesses: Tensor) -> Tensor:
    """For each slot the guess of the slot before, and [START] first."""
    return torch.cat([inputs[:, :1], guesses[:, :-1]], 1)


def mixed(
    kept: Kept = lambda draws, epsilon: draws < epsilon, guess: Callable[[Tensor, Tensor], Tensor] = before,
    empty: Callable[[Tensor, int], Tensor] = lambda inputs, pad: inputs == pad,
) -> Inputs:
    """The exercise's function with other right words that are ``kept``, other guesses, or other padding."""
    return lambda inputs, guesses, draws, epsilon, pad: torch.where(
        kept(draws, epsilon) | empty(inputs, pad), inputs, guess(inputs, guesses))


def nowhere(inputs: Tensor, pad: int) -> Tensor:
    """No slot is padding."""
    return torch.zeros_like(inputs, dtype=torch.bool)


def given_back(inputs: Tensor, guesses: Tensor, draws: Tensor, epsilon: float, pad: int) -> Tensor:
    """torch.where with its two tensors the wrong way round."""
    return torch.where((draws < epsilon) | (inputs == pad), before(inputs, guesses), inputs)


def averaged(inputs: Tensor, guesses: Tensor, draws: Tensor, epsilon: float, pad: int) -> Tensor:
    """Numbers between the two ids."""
    between = epsilon * inputs + (1 - epsilon) * before(inputs, guesses)
    return torch.where(inputs == pad, inputs, between)


SCHEDULED: Mistakes = {
    "a slot reads its own guess, which is made after it has read; it reads the guess of the slot before": mixed(
        guess=lambda inputs, guesses: torch.cat([inputs[:, :1], guesses[:, 1:]], 1)),
    "a slot reads its own guess, and the first word is replaced too; shift the guesses, and keep the first slot": mixed(
        guess=lambda inputs, guesses: guesses),
    "the guesses are shifted to the left: a slot reads the guess of the slot after it": mixed(
        guess=lambda inputs, guesses: torch.cat([inputs[:, :1], guesses.roll(-1, 1)[:, 1:]], 1)),
    "the guesses are shifted to the left, and the first word is replaced too: a slot reads the guess of the slot "
    "before, and the first slot stays": mixed(guess=lambda inputs, guesses: guesses.roll(-1, 1)),
    "a guess goes round the end into the first slot: .roll(1, 1) does that, and the first slot stays": mixed(
        guess=lambda inputs, guesses: guesses.roll(1, 1)),
    "guesses go from text to text: .roll(1) without a dim rolls all texts as one row": mixed(
        guess=lambda inputs, guesses: guesses.roll(1)),
    "the guesses are those of another text: .roll(1, 0) shifts texts, .roll(1, 1) slots": mixed(
        guess=lambda inputs, guesses: torch.cat([inputs[:, :1], guesses.roll(1, 0)[:, 1:]], 1)),
    "the first slot becomes 0 where its draw says so; it stays as it is": mixed(
        guess=lambda inputs, guesses: torch.cat([torch.zeros_like(inputs[:, :1]), guesses[:, :-1]], 1)),
    "the draws are read the wrong way round: a draw below ε keeps the right word": mixed(
        lambda draws, epsilon: draws >= epsilon),
    "the right word and the guess have changed places in torch.where, so that padding is replaced too": given_back,
    "draws are compared with 1 − ε: the right word stays with the chance ε": mixed(
        lambda draws, epsilon: draws < 1 - epsilon),
    "the chances are right, but it is draws below ε that keep the right word, not those above 1 − ε": mixed(
        lambda draws, epsilon: draws > 1 - epsilon),
    "draws are compared with 0.5, not with ε": mixed(lambda draws, epsilon: draws < 0.5),
    "a draw that is just ε keeps the right word, so that with ε = 0 some stay: < is not <=": mixed(
        lambda draws, epsilon: draws <= epsilon),
    "one draw decides for a whole text; each slot has its own": mixed(lambda draws, epsilon: draws[:, :1] < epsilon),
    "one draw decides for the whole batch; each slot has its own": mixed(
        lambda draws, epsilon: draws[:1, :1] < epsilon),
    "all texts have the draws of the first; each slot has its own": mixed(lambda draws, epsilon: draws[:1] < epsilon),
    "a slot has the draw of the slot before: draws[i, t] decides for slot t": mixed(
        lambda draws, epsilon: torch.cat([draws[:, :1], draws[:, :-1]], 1) < epsilon),
    "padding is replaced by guesses; it stays": mixed(empty=nowhere),
    "0 is taken for padding; `pad` says what padding is": mixed(empty=lambda inputs, pad: inputs == 0),
    "words stay and padding is replaced: == and != have changed places": mixed(empty=lambda inputs, pad: inputs != pad),
    "all words are guesses: the draws are not used": mixed(lambda draws, epsilon: torch.zeros_like(draws).bool()),
    "nothing is replaced: these are the inputs": lambda inputs, guesses, draws, epsilon, pad: inputs.clone(),
    "ids are averaged, and the mean of two words is a third one: take one or the other": averaged,
    "these are the guesses as they were given": lambda inputs, guesses, draws, epsilon, pad: guesses.clone(),
    "the first slot is missing: the answer has as many slots as the inputs": lambda *args: mixed()(*args)[:, 1:],
}

OF_INPUTS: Properties = {
    "the first slot does not read what it read": lambda out, inputs, *_: torch.equal(out[:, 0], inputs[:, 0]),
    "padding does not stand where it stood": lambda out, inputs, guesses, draws, epsilon, pad: bool(
        (out[inputs == pad] == pad).all()),
    "a slot reads neither its right word nor the guess of the slot before": lambda out, inputs, guesses, *_: bool(
        ((out == inputs) | (out == before(inputs, guesses))).all()),
}
