"""Exercises of chapter 13: sentinels, position buckets, PEGASUS's gap sentences, and PALM's copy mechanism."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, randn

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

    return {"T5's example": given("Thank you for inviting me to your party last week .", [2, 4], [8, 9]),
            "the text ends with a span": given("Thank you for inviting me to your party .", [1, 2], [7, 9]),
            "the text begins with a span": given("a b c d e", [0, 3]),
            "spans at both ends": given("a b c d e f g", [0, 1], [3, 4], [5, 7]),
            "one kept token between the spans": given("a a b a a", [1, 2], [3, 5]),
            "three spans of one token": given("a b c d e f g", [0, 1], [2, 3], [5, 6]),
            "no span": given("a b c"), "nothing is kept": given("a b", [0, 2]), "a text of one token": given("a")}


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
    return {"encoder, small distances": (near, 32, 128, True), "encoder, large distances": (far, 32, 128, True),
            "decoder, small distances": (near, 32, 128, False), "decoder, large distances": (far, 32, 128, False),
            "eight buckets, at most 20": (torch.arange(-25, 26), 8, 20, True),
            "an odd number of buckets": (torch.arange(-3, 40), 7, 30, False),
            "the same position": (torch.tensor([0]), 32, 128, True),
            "one bucket for distance 0, one for all others": (torch.tensor([-9, -1, 0, 1, 2, 9]), 4, 16, True)}


def select_gap_sentences(sentences: list[list[str]], count: int) -> list[int]:
    """Select ``count`` gap sentences of a text sequentially, as PEGASUS's Seq-Orig; return their sorted indices.

    In each step, add the sentence that maximizes the ROUGE-1 F1 between the selected sentences, the new one included,
    and all remaining sentences. F1 is 2 · h / n, where n is the number of tokens of the text, the same for every
    candidate. For the overlap h, take the smaller of each distinct token's counts in the two parts, and sum over the
    tokens. If scores are equal, add the later sentence.
    """
    selected = list[int]()
    for _ in range(count):
        scores = list[tuple[float, int]]()
        for i in [j for j in range(len(sentences)) if j not in selected]:
            part = [*selected, i]
            inside = [token for j in part for token in sentences[j]]
            outside = [token for j, sentence in enumerate(sentences) if j not in part for token in sentence]
            overlap = sum(min(inside.count(token), outside.count(token)) for token in dict.fromkeys(inside))
            scores.append((overlap, i))
        selected.append(max(scores)[1])
    return sorted(selected)


def draw_texts(_: Generator) -> Probes:
    """Inputs for 13.3: name → (sentences, number of sentences to select)."""
    texts = {"a text of one sentence": ("a b c", 1), "two sentences have equal scores": ("a b / b c", 1),
             "short sentences": ("a / b a / b", 1), "a repeated token": ("a c a / a b / a d", 1),
             "a token is rarer in the others": ("a a a / b a / b c", 1), "all sentences": ("a b / c / a c b", 3),
             "two pairs of equal sentences": ("a b c / a b c / d e / d e", 2), "no token in common": ("a / b / c", 2),
             "a token of the rest in both selected sentences": ("f a / f / e / f", 2),
             "a sentence resembles the selected one": ("a c / a / a a / b b", 2),
             "three of five sentences": ("a b c d / c e f g / h i c j / k g j / c j l c m f g", 3)}
    return {name: ([*map(str.split, text.split("/"))], count) for name, (text, count) in texts.items()}


def copy_mixture(
    logits: Float[Tensor, "batch vocab"], scores: Float[Tensor, "batch source"], source: Int[Tensor, "batch source"],
    real: Bool[Tensor, "batch source"], gate: Float[Tensor, "batch"],
) -> Float[Tensor, "batch vocab"]:
    """PALM's pointer-generator: the probabilities of the next token, which is generated or copied from the source.

    They are ``gate`` times the softmax of ``logits``, plus (1 − ``gate``) times the copy distribution. ``source`` holds
    the token ids of the source, and ``scores`` an attention score for each of its positions. The softmax of the scores
    over the real positions gives their weights, and the copy probability of a token is the sum of the weights of all
    positions at which it occurs. ``real`` is False at padding, which is never copied. Every row has at least one real
    position.
    """
    weights = scores.masked_fill(~real, float("-inf")).softmax(1)
    copied = torch.zeros_like(logits).scatter_add(1, source, weights)
    return gate[:, None] * logits.softmax(1) + (1 - gate[:, None]) * copied


def draw_sources(rng: Generator) -> Probes:
    """Inputs for 13.4: name → (logits, scores, source, real, gate)."""
    def drawn(vocab: int, source: list[list[int]], lengths: list[int], *gate: float) -> tuple[Tensor, ...]:
        logits, scores = (2 * randn(len(source), count, generator=rng) for count in (vocab, len(source[0])))
        real = torch.arange(len(source[0])) < torch.tensor(lengths)[:, None]
        return logits, scores, torch.tensor(source), real, torch.tensor(gate)

    return {"one source position": drawn(3, [[2]], [1], 0.4), "two tokens": drawn(4, [[3, 1]], [2], 0.7),
            "a token occurs twice": drawn(4, [[2, 1, 2]], [3], 0.25),
            "padding": drawn(6, [[4, 2, 5, 0], [3, 1, 0, 0]], [3, 2], 0.3, 0.6),
            "the id of padding is also that of a real token": drawn(5, [[1, 4, 1, 1], [2, 1, 3, 1]], [2, 3], 0.2, 0.5),
            "gates of 0 and 1": drawn(5, [[4, 2, 0], [1, 3, 0], [2, 2, 4]], [2, 2, 3], 0.0, 1.0, 0.0),
            "a source longer than the vocabulary": drawn(3, [[1, 2, 1, 1, 2], [2, 2, 1, 0, 0]], [5, 3], 0.1, 0.8),
            "three texts, positions and tokens": drawn(3, [[0, 1, 2], [1, 1, 0], [2, 0, 0]], [3, 3, 1], 0.5, 0.3, 0.9)}


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
        "13.3", "sequential gap-sentence selection", select_gap_sentences, draw_texts,
        mistakes={
            "the overlap counts distinct tokens (Seq-Uniq); here a token can count several times":
                edit("min(inside.count(token), outside.count(token))", "token in outside"),
            "of equal scores, the earlier is taken; take the later": edit("(scores)", "(scores, key=lambda s: s[0])"),
            "each candidate is scored alone, against all other sentences, selected ones included (Ind-Orig)":
                edit("[*selected, i]", "[i]"),
            "the overlap is not clipped: it counts tokens more often than they occur in the other sentences":
                edit("min(inside.count(token), outside.count(token))", "inside.count(token) * (token in outside)"),
            "the overlap is clipped for each sentence; clip the counts of all selected sentences together": edit(
                "min(inside.count(token), outside.count(token)) for token in dict.fromkeys(inside)",
                "min(sentences[j].count(token), outside.count(token)) for j in part "
                "for token in dict.fromkeys(sentences[j])"),
            "the indices are in the order of selection; sort them": edit("sorted(selected)", "selected"),
            "the selected sentences are in both parts, or in neither; they belong to the candidate's part only":
                edit("if j not in part", "if j != i"),
            "this is the precision; F1 is divided by n": edit("(overlap, i)", "(overlap / len(inside), i)"),
            "a sentence can be selected twice": edit(" if j not in selected]", "]"),
            "the overlap is with the whole text, selected sentences included": edit(" if j not in part", ""),
        },
        hints=(
            "Select two of the sentences a b, a c and d b. What is the overlap of each with the two others? After the "
            "first selection, what is the overlap of each possible pair with the sentence that is left?",
            "As n is the same for every candidate, compare h. For each candidate, collect two lists of tokens: one of "
            "the selected sentences and the candidate, the other of all other sentences.",
            "tokens.count(token) counts; dict.fromkeys(tokens) has each token once; max compares pairs (h, index).",
        ),
    ),
    Exercise(
        "13.4", "copying from the source", copy_mixture, draw_sources,
        mistakes={
            "the gate is the wrong way round: it weights generation": edit("return", "gate = 1 - gate\n    return"),
            "only the last position of a repeated token counts: the weights are assigned, not added": edit(
                ".scatter_add(1, source, weights)", "\n    for i in range(source.shape[1]):\n"
                "        copied = copied.scatter(1, source[:, i:i + 1], weights[:, i:i + 1])"),
            "padding takes part in the softmax": edit('.masked_fill(~real, float("-inf"))', ""),
            "padding is set to 0 after the softmax, so the weights of the real positions do not sum to 1":
                edit('.masked_fill(~real, float("-inf"))', "", "softmax(1)\n", "softmax(1) * real\n"),
            "the scores of padding are set to 0, and e⁰ is 1: they must be −∞": edit('float("-inf")', "0.0"),
            "the softmax runs over the batch, axis 0; it runs over axis 1":
                edit('"-inf")).softmax(1)', '"-inf")).softmax(0)', "logits.softmax(1)", "logits.softmax(0)"),
            "logits and scores are mixed before the softmax; mix the two distributions":
                edit('float("-inf")).softmax(1)', "0.0)", "return gate", "return (gate", ".softmax(1)", "", "* copied",
                     "* copied).softmax(1)"),
            "the logits are no probabilities yet; take their softmax": edit("logits.softmax(1)", "logits"),
            "the copy distribution is not multiplied by 1 − gate": edit("(1 - gate[:, None]) * copied", "copied"),
            "the mask is inverted: `real` is True where a token may be copied": edit("~real", "real"),
        },
        hints=(
            "The source is cat cat dog, its positions have the weights 0.5, 0.2 and 0.3, and the gate is 0.4. How much "
            "does copying add to the probability of cat, and how much to that of dog?",
            "Use masked_fill to give padding the score −∞; then its weight is 0, and the others sum to 1. Start from "
            "zeros, one per token of the vocabulary, and add each weight at the id of its token.",
            "zeros.scatter_add(1, source, weights) adds weights[b, i] at [b, source[b, i]]; gate[:, None] is a column.",
        ),
    ),
)
