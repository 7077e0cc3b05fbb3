"""Exercises of chapter 13: sentinels, position buckets, MASS's decoder input, infilled spans, permuted sentences, and
teacher forcing for pairs."""

import torch
from jaxtyping import Bool, Int
from torch import Generator, Tensor, rand, randint

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def span_corruption(tokens: list[str], spans: list[list[int]], sentinels: list[str]) -> tuple[list[str], list[str]]:
    """T5's span corruption: the encoder's input, and the decoder's target.

    ``spans`` gives [begin, end] of each dropped span, as in a slice, in the order of the text; between two spans
    there is at least one kept token. In the source, each span is replaced by one sentinel, the first span by the
    first of ``sentinels``, and so on. In the target, each sentinel is followed by the tokens of its span. If the
    text has kept tokens after the last span, the target ends with the next unused sentinel, otherwise it does not.
    Return two new lists.
    """
    source, target, last = list[str](), list[str](), 0
    for sentinel, (begin, end) in zip(sentinels, spans, strict=False):
        source += [*tokens[last:begin], sentinel]
        target += [sentinel, *tokens[begin:end]]
        last = end
    closing = [sentinels[len(spans)]] if last < len(tokens) else []
    return [*source, *tokens[last:]], [*target, *closing]


def draw_dropped(_: Generator) -> Probes:
    """Inputs for 13.1: name → (tokens, spans, sentinels)."""
    def given(text: str, *spans: list[int]) -> tuple[list[str], list[list[int]], list[str]]:
        return text.split(), [*spans], ["[X0]", "[X1]", "[X2]", "[X3]"]

    return {
        "T5's example": given("Thank you for inviting me to your party last week .", [2, 4], [8, 9]),
        "the text ends with a span": given("Thank you for inviting me to your party .", [1, 2], [7, 9]),
        "the text begins with a span": given("a b c d e", [0, 3]),
        "spans at both ends": given("a b c d e f g", [0, 1], [3, 4], [5, 7]),
        "one kept token between the spans": given("a a b a a", [1, 2], [3, 5]),
        "three spans of one token": given("a b c d e f g", [0, 1], [2, 3], [5, 6]),
        "no span": given("a b c"), "nothing is kept": given("a b", [0, 2]), "a text of one token": given("a"),
    }


def relative_bucket(
    back: Int[Tensor, "distance"], buckets: int, max_distance: int, bidirectional: bool,
) -> Int[Tensor, "distance"]:
    """T5's bucket of each relative position.

    ``back`` holds distances: the position of the query minus that of the key, so earlier keys have positive
    distances. In a decoder (``bidirectional`` False) all ``buckets`` are for earlier keys; a later key gets bucket
    0. In an encoder, half of them are for keys at distances >= 0, and the other half, with the higher ids, for later
    keys, by the absolute distance. Let b be the number of buckets of one direction and d the distance. The distances
    below b // 2 have a bucket each, d itself. From there on the bucket is
    b // 2 + floor((b - b // 2) · log(d / (b // 2)) / log(max_distance / (b // 2))), and at most b - 1. Compute the
    logarithms in float64.
    """
    offset = torch.zeros_like(back)
    if bidirectional:
        buckets //= 2
        offset = buckets * (back < 0)
        back = back.abs()
    back = back.clamp(min=0)
    near = buckets // 2
    ratio = (back.clamp(min=near).double() / near).log() / torch.tensor(max_distance / near).double().log()
    far = (near + ((buckets - near) * ratio).long()).clamp(max=buckets - 1)
    return offset + torch.where(back < near, back, far)


def draw_distances(_: Generator) -> Probes:
    """Inputs for 13.2: name → (distances, buckets, maximum distance, bidirectional)."""
    near, far = torch.arange(-20, 21), torch.tensor([-600, -128, -127, -91, -64, -33, 33, 64, 91, 113, 127, 128, 600])
    return {
        "encoder, small distances": (near, 32, 128, True),
        "encoder, large distances": (far, 32, 128, True),
        "decoder, small distances": (near, 32, 128, False),
        "decoder, large distances": (far, 32, 128, False),
        "eight buckets, at most 20": (torch.arange(-25, 26), 8, 20, True),
        "an odd number of buckets": (torch.arange(-3, 40), 7, 30, False),
        "the same position": (torch.tensor([0]), 32, 128, True),
        "one bucket for distance 0, one for all others": (torch.tensor([-9, -1, 0, 1, 2, 9]), 4, 16, True),
    }


def mass_decoder_input(tokens: list[int], u: int, v: int, start: int) -> tuple[list[int], list[int], list[int]]:
    """The decoder's input tokens, targets and position ids in MASS, as in the authors' code.

    Positions count from 1: ``tokens[0]`` is x_1, and position 0 is ``start``, which begins the text. The span from
    x_u to x_v, both included, is masked in the encoder. The decoder predicts x_u … x_v, in this order. At each of
    these steps its input is the token before the predicted one in the text, with the position id that this token
    has in the text. Return three lists of the same length.
    """
    whole = [start, *tokens]
    return whole[u - 1:v], whole[u:v + 1], list(range(u - 1, v))


def draw_decoder_inputs(rng: Generator) -> Probes:
    """Inputs for 13.3: name → (tokens, u, v, id of the start token)."""
    def drawn(count: int) -> list[int]:
        return randint(10, 90, (count,), generator=rng).tolist()

    return {"the paper's example": ([11, 12, 13, 14, 15, 16, 17, 18], 3, 6, 5), "the beginning": (drawn(6), 1, 3, 5),
            "the end": (drawn(7), 5, 7, 5), "one token (like BERT)": (drawn(5), 3, 3, 9),
            "the whole text (like GPT)": (drawn(6), 1, 6, 5), "a text of one token": ([40], 1, 1, 5)}


def infilled_lengths(draws: list[float], mean: float, budget: int) -> list[int]:
    """The lengths of BART's infilled spans: Poisson, zeros included, until ``budget`` tokens are masked.

    ``draws`` are random numbers in [0, 1), more than enough, and each gives one length: the smallest length l for
    which the draw is below P(0) + … + P(l), where P(l) = exp(-mean) · mean^l / l! is the Poisson distribution. Take
    the draws in order, and stop as soon as the lengths sum to the budget. The last length is shortened if it would
    exceed the budget. A length of 0 is kept: it stands for a [MASK] that replaces nothing.
    """
    lengths = list[int]()
    for draw in draws:
        if sum(lengths) >= budget:
            break
        length, probability = 0, torch.tensor(-mean).double().exp().item()
        cumulative = probability
        while draw >= cumulative:
            length += 1
            probability *= mean / length
            cumulative += probability
        lengths.append(min(length, budget - sum(lengths)))
    return lengths


def draw_lengths(rng: Generator) -> Probes:
    """Inputs for 13.4: name → (random numbers, mean, number of tokens to mask)."""
    def drawn(count: int) -> list[float]:
        return [*rand(count, generator=rng, dtype=torch.float64).tolist(), *[0.99] * count]

    return {"two spans": ([0.5, 0.3, 0.9], 3.0, 5), "a length of 0 in between": ([0.2, 0.01, 0.4, 0.7], 3.0, 4),
            "the last span is shortened": ([0.99, 0.99], 3.0, 6), "a budget of 1": ([0.02, 0.03, 0.95], 3.0, 1),
            "no token to mask": ([0.5], 3.0, 0), "a mean of 1": (drawn(30), 1.0, 12),
            "many spans": (drawn(60), 3.0, 40)}


def unpermuted(tokens: list[int], lengths: list[int], order: list[int]) -> list[int]:
    """Undo a sentence permutation of BART: the original text.

    ``lengths`` are the lengths of the sentences in the original text, in their original order. In the permuted text
    ``tokens``, the sentences are arranged in the order ``order``: its first sentence is the original sentence number
    ``order[0]`` (counted from 0), its second ``order[1]``, and so on.
    """
    sentences, begin = dict[int, list[int]](), 0
    for number in order:
        sentences[number] = tokens[begin:begin + lengths[number]]
        begin += lengths[number]
    return [token for number in sorted(sentences) for token in sentences[number]]


def draw_orders(_: Generator) -> Probes:
    """Inputs for 13.5: name → (tokens of the permuted text, original lengths, order)."""
    return {"two sentences": ([23, 8, 51, 42, 17], [2, 3], [1, 0]),
            "three sentences in a cycle": ([30, 12, 47, 25, 9, 25], [1, 3, 2], [2, 0, 1]),
            "four sentences": ([20, 44, 41, 33, 11, 12, 15], [3, 1, 1, 2], [1, 3, 0, 2]),
            "nothing was moved": ([31, 10, 20], [2, 1], [0, 1]), "a single sentence": ([14, 11, 12], [3], [0]),
            "equal sentences, and an empty one": ([30, 30, 9, 30], [1, 2, 0, 1], [3, 2, 1, 0])}


def teacher_forcing(
    targets: list[list[int]], start: int, end: int, pad: int,
) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"], Bool[Tensor, "batch time"]]:
    """The decoder's batch for targets of different lengths: inputs, labels, and the padding mask.

    A target x_1 … x_n has n + 1 labels: its tokens, and ``end`` as the last one. The input at each of these steps is
    the label of the step before, and ``start`` at the first step. Rows are padded on the right to the longest row:
    inputs with ``pad``, labels with -100, which cross_entropy ignores. The third result is True where an input is
    not padding. A target may contain any token, ``pad`` included.
    """
    time = max(map(len, targets)) + 1
    inputs = [[start, *row] + [pad] * (time - 1 - len(row)) for row in targets]
    labels = [[*row, end] + [-100] * (time - 1 - len(row)) for row in targets]
    real = torch.arange(time) <= torch.tensor([[len(row)] for row in targets])
    return torch.tensor(inputs), torch.tensor(labels), real


def draw_targets(_: Generator) -> Probes:
    """Inputs for 13.6: name → (targets, ids of the start, end and padding tokens)."""
    return {"two targets": ([[10, 11, 12], [20]], 5, 6, 0), "the same length": ([[10, 11], [20, 21]], 5, 6, 0),
            "an empty target": ([[], [10, 11]], 5, 6, 0), "one token": ([[10]], 5, 6, 0),
            "start and end are the same token (BART)": ([[10, 11], [20, 21, 22]], 2, 2, 1),
            "start and padding are the same token (T5)": ([[10, 11, 12], [20, 21]], 0, 1, 0),
            "the padding token occurs in a target": ([[10, 0, 12], [0]], 5, 6, 0)}


EXERCISES = (
    Exercise(
        "13.1", "sentinels", span_corruption, draw_dropped,
        mistakes={
            "all spans have the same sentinel, as with BART's [MASK]; T5's sentinels differ":
                edit("zip(sentinels,", "zip(sentinels[:1] * len(spans),", "sentinels[len(spans)]", "sentinels[0]"),
            "the sentinels are assigned from the last span to the first; the first span gets the first sentinel":
                edit("zip(sentinels,", "zip(sentinels[:len(spans)][::-1],"),
            "the target is the whole text, not only the dropped tokens": edit("[*target, *closing]", "list(tokens)"),
            "in the target, each sentinel comes before its span, not after it":
                edit("[sentinel, *tokens[begin:end]]", "[*tokens[begin:end], sentinel]"),
            "the closing sentinel is always there": edit(" if last < len(tokens) else []", ""),
            "the closing sentinel is never there": edit("[sentinels[len(spans)]] if last < len(tokens) else []", "[]"),
            "the source lacks the kept tokens after the last span": edit("[*source, *tokens[last:]]", "source"),
            "each dropped token is replaced by a sentinel; there is one sentinel per span": edit(
                "[*tokens[last:begin], sentinel]", "[*tokens[last:begin], *[sentinel] * (end - begin)]"),
            "the end of a span is exclusive, as in a slice": edit("tokens[begin:end]]", "tokens[begin:end + 1]]"),
            "the dropped tokens are also in the source": edit("tokens[last:begin]", "tokens[last:end]"),
        },
        hints=(
            "Five tokens a b c d e, and the span [1, 3]. Write down the source and the target. What changes for the "
            "span [3, 5]?",
            "Walk through the spans and remember where the last one ended. Each span adds the kept tokens before it "
            "and a sentinel to the source, and the sentinel and its tokens to the target.",
            "zip(sentinels, spans) stops at the shorter list; tokens[last:begin] is a slice; [*a, *b] joins lists.",
        ),
    ),
    Exercise(
        "13.2", "T5's position buckets", relative_bucket, draw_distances,
        mistakes={
            "the buckets are not halved for the two directions": edit(
                "buckets //= 2", "pass", "offset = buckets *", "offset = buckets // 2 *"),
            "later keys have the same buckets as earlier ones": edit("offset = buckets * (back < 0)", "pass"),
            "the higher buckets are for later keys, not for earlier ones": edit("(back < 0)", "(back > 0)"),
            "the distance has the wrong sign: it is query minus key, so later keys have negative distances": edit(
                "offset = torch", "back = -back\n    offset = torch"),
            "distance 0 gets the offset of later keys; it has bucket 0": edit("(back < 0)", "(back <= 0)"),
            "in a decoder, a later key has bucket 0, not that of its absolute distance":
                edit("back = back.clamp(min=0)", "back = back.abs()"),
            "the last bucket is not clamped": edit(".clamp(max=buckets - 1)", ""),
            "the bucket is rounded to the nearest integer; take the floor":
                edit("* ratio).long()", "* ratio).round().long()"),
            "the logarithm is not divided by log(max_distance / (b // 2)): it is the natural one":
                edit(" / torch.tensor(max_distance / near).double().log()", ""),
            "the logarithm has the base max_distance; its base is max_distance / (b // 2)":
                edit("torch.tensor(max_distance / near)", "torch.tensor(max_distance)"),
        },
        hints=(
            "Take 8 buckets for one direction and a maximum distance of 32. Which distances have a bucket of their "
            "own? In which bucket is 4, and in which is 32?",
            "Handle the sign first: halve the number of buckets, remember the offset of later keys, and continue with "
            "absolute distances. Clamp before the logarithm, so that it never sees 0.",
            "x.clamp(min=…), x.abs(), x.long() and torch.where(condition, a, b); long() of a positive number is its "
            "floor.",
        ),
    ),
    Exercise(
        "13.3", "MASS's decoder input", mass_decoder_input, draw_decoder_inputs,
        mistakes={
            "the input is the predicted token itself: a leak": edit("return whole[u - 1:v],", "return whole[u:v + 1],"),
            "the position ids count from 0; keep those of the text": edit("range(u - 1, v)", "range(v - u + 1)"),
            "the position ids are those of the predicted tokens (the paper's figure), not of the inputs":
                edit("range(u - 1, v)", "range(u, v + 1)"),
            "x_v is missing; the span includes it": edit(
                "whole[u - 1:v], whole[u:v + 1], list(range(u - 1, v))",
                "whole[u - 1:v - 1], whole[u:v], list(range(u - 1, v - 1))"),
            "u and v are used as indices from 0: x_1 is tokens[0]": edit("[start, *tokens]", "[*tokens, start]"),
            "at u = 1 the input of the start token is missing: the slice begins at the index -1":
                edit("return whole[u - 1:v],", "return tokens[u - 2:v - 1],"),
            "the position ids are indices of tokens, which count from 0; x_1 has position 1":
                edit("range(u - 1, v)", "range(u - 2, v - 1)"),
            "every span begins with the start token; its first input is the token before the span":
                edit("whole[u - 1:v], whole[u", "[start, *whole[u:v]], whole[u"),
        },
        hints=(
            "The text is a b c d, u = 2 and v = 3. Which tokens are predicted? Which token precedes each of them, "
            "and at which position?",
            "Put the start token before the text, so that index and position agree. Inputs, targets and position ids "
            "are then three slices of equal length.",
            "whole[a:b] excludes b, and so does range(a, b).",
        ),
    ),
    Exercise(
        "13.4", "span lengths from a Poisson distribution", infilled_lengths, draw_lengths,
        mistakes={
            "a length of 0 becomes 1, as in GLM": edit("min(length, budget", "min(max(1, length), budget"),
            "lengths of 0 are left out": edit("lengths.append(", "length and lengths.append("),
            "the last length exceeds the budget": edit("min(length, budget - sum(lengths))", "length"),
            "the budget counts spans; it should count tokens": edit(
                "sum(lengths) >= budget", "len(lengths) >= budget", "min(length, budget - sum(lengths))", "length"),
            "the last span is left out if it exceeds the budget, and no other is drawn; shorten it": edit(
                "lengths.append(min(length, budget - sum(lengths)))",
                "if sum(lengths) + length > budget:\n            break\n        lengths.append(length)"),
            "lengths of 0 follow after the budget has been reached": edit("(lengths) >= budget", "(lengths) > budget"),
            "each length is too small by 1: it is the first one for which the draw is below the sum":
                edit("min(length, budget", "min(max(0, length - 1), budget"),
            "each length is too large by 1: the first one is 0, with the probability P(0)":
                edit("min(length, budget", "min(length + 1, budget"),
            "the draw is compared with the probability of greater lengths; compare it with that of lengths up to l":
                edit("while draw >=", "while 1 - draw >="),
            "the factorial is missing": edit("mean / length", "mean"),
        },
        hints=(
            "With a mean of 3, P(0) = 0.05 and P(1) = 0.15. Which lengths do the draws 0.04, 0.06 and 0.19 give?",
            "An outer loop over the draws, which ends when enough tokens are masked; an inner loop that adds up "
            "probabilities until their sum exceeds the draw.",
            "P(l) is P(l - 1) · mean / l, and P(0) is torch.exp of -mean as a float64; min(length, what is left) "
            "shortens the last length.",
        ),
    ),
    Exercise(
        "13.5", "undo a sentence permutation", unpermuted, draw_orders,
        mistakes={
            "the permutation is applied a second time; undo it": edit(
                "sentences[number] = ", "sentences[len(sentences)] = ", "in sorted(sentences)", "in order"),
            "the permutation is applied to the permuted text as if it were the original": edit(
                "in sorted(sentences)", "in order", "in order:", "in range(len(order)):"),
            "the lengths are read in the order of the original text, but the text is permuted": edit(
                "number in order:", "place, number in enumerate(order):", "begin:begin + lengths[number]",
                "begin:begin + lengths[place]", "begin += lengths[number]", "begin += lengths[place]"),
            "the sentences keep the permuted order": edit("in sorted(sentences)", "in order"),
            "the order of the sentences is reversed": edit("sorted(sentences)", "sorted(sentences)[::-1]"),
            "the tokens of a sentence are reversed; only the order of the sentences changes": edit(
                "in sentences[number]]", "in sentences[number][::-1]]"),
        },
        hints=(
            "The original sentences are A B (number 0) and C (number 1), and the order is [1, 0]. What is the permuted "
            "text? How long is its first sentence?",
            "Cut the permuted text into sentences first: its i-th sentence has the length of the original sentence "
            "order[i]. Then put each back at its number.",
            "A dict from number to sentence, or sorted(zip(order, sentences)), restores the order.",
        ),
    ),
    Exercise(
        "13.6", "teacher forcing for pairs", teacher_forcing, draw_targets,
        mistakes={
            "the inputs are not shifted: each step sees its own label": edit("[start, *row] +", "[*row, end] +"),
            "padding has the label of a token and counts in the loss": edit("[-100] *", "[pad] *"),
            "the end token is not predicted: the model never learns to stop": edit("[*row, end]", "[*row, -100]"),
            "the end token comes after the padding; it follows the last token of its row": edit(
                "[*row, end] + [-100] * (time - 1 - len(row))", "[*row] + [-100] * (time - 1 - len(row)) + [end]"),
            "-100 is among the inputs, but no embedding has this index: inputs and labels differ in padding": edit(
                "[start, *row] + [pad] * (time - 1 - len(row))", "([start, *row, end] + [-100] * time)[:time]"),
            "the inputs are shifted twice": edit("[[start, *row] +", "[[start, start, *row][:len(row) + 1] +"),
            "the mask is inverted: True means that an input is real": edit("<= torch", "> torch"),
            "the mask is one position too short": edit("<= torch", "< torch"),
            "the mask is found by comparing with the padding token, which may be a real token":
                edit("real = torch.arange(time) <= torch.tensor([[len(row)] for row in targets])",
                     "real = torch.tensor(inputs) != pad"),
            "the end token is also an input": edit(
                "[start, *row] + [pad] * (time - 1 - len(row))", "([start, *row, end] + [pad] * time)[:time]"),
        },
        hints=(
            "Targets [7, 8] and [9], start 5, end 6. Write down the two rows of inputs and the two rows of labels, and "
            "pad them.",
            "Both rows have one element more than the target: the inputs one at the beginning, the labels one at the "
            "end.",
            "[x] * n repeats; torch.arange(time) < column compares each row with its own length by broadcasting.",
        ),
    ),
)
