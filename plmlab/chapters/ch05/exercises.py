"""Exercises of chapter 05: ELMo, from character input to word-sense disambiguation."""

from math import log

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, rand, randint, randn, randperm, tensor

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def character_ids(word: str, max_length: int) -> Int[Tensor, "time"]:
    """Encode a word as ``max_length`` character ids, at least 3, in ELMo's input format.

    The first id is 259, the begin-of-word symbol. It is followed by one id per byte of the word in UTF-8: the
    byte plus 1. An English letter is one byte, other characters are two to four. The next id is 260, the
    end-of-word symbol. The rest is padded with 261. If there are too many bytes, the last ones are left out, so
    that 259 and 260 still fit; a character may lose some of its bytes. The bytes of "n" and "o" are 110 and 111,
    so that "no" with max_length = 6 becomes the tensor [259, 111, 112, 260, 261, 261].
    """
    codes = [259, *(byte + 1 for byte in word.encode()[:max_length - 2]), 260]
    return torch.tensor(codes + [261] * (max_length - len(codes)))


def draw_words(rng: Generator) -> Probes:
    """Inputs for 05.1: name → (word, number of character ids)."""
    letters = randint(ord("a"), ord("z") + 1, (9,), generator=rng).tolist()
    return {
        "a short word": ("no", 6),
        "a longer word": ("".join(map(chr, letters)), 14),
        "two accents": ("Été", 9),
        "Chinese": ("北京", 12),
        "exactly enough space": ("word", 6),
        "one byte too many": ("words", 6),
        "much too long": ("characters", 5),
        "truncated inside a character": ("naïve", 5),
    }


def convolve_and_pool(
    characters: Float[Tensor, "words position width"], filters: Float[Tensor, "filter size width"],
    bias: Float[Tensor, "filter"],
) -> Float[Tensor, "words filter"]:
    """Convolve filters over the characters of words and max-pool: the core of a character CNN.

    characters[i, p] is the vector of character p of word i. Filter k consists of ``size`` vectors filters[k, 0],
    filters[k, 1], … At each position where the whole filter fits within the word, take the inner product of each of
    its vectors with the character vector that it is aligned with, sum these products, and add bias[k] once. Return,
    for each word and filter, the maximum of these sums, or 0 if it is negative (ReLU). For a word with the
    one-dimensional characters 1, 3, −2 and the filter 1, 2 with the bias −1, the sums are 1 + 6 − 1 = 6 and 3 − 4 − 1
    = −2, and the result is 6.
    """
    return torch.conv1d(characters.mT, filters.mT, bias).amax(-1).relu()


def draw_filters(rng: Generator) -> Probes:
    """Inputs for 05.2: name → (characters `[words position width]`, filters `[filter size width]`, bias `[filter]`)."""
    def drawn(words: int, positions: int, width: int, count: int, size: int) -> tuple[Tensor, Tensor, Tensor]:
        shapes = (words, positions, width), (count, size, width), (count,)
        characters, filters, bias = (randn(shape, generator=rng) for shape in shapes)
        return characters, filters, bias

    characters, filters, _ = drawn(2, 6, 4, 3, 2)
    return {
        "one word, one filter": (tensor([[[1.0], [3.0], [-2.0]]]), tensor([[[1.0], [2.0]]]), tensor([-1.0])),
        "three words, five filters": drawn(3, 7, 4, 5, 3),
        "all sums are negative without the bias": (characters.abs(), -filters.abs(), tensor([0.5, 3.0, -2.0])),
        "words as long as the filters": drawn(2, 4, 3, 5, 4),
        "as many characters as dimensions": drawn(3, 5, 5, 2, 2),
        "filters as long as wide": drawn(2, 6, 3, 4, 3),
        "filters of one character": drawn(4, 5, 2, 3, 1),
    }


def bilm_inputs_and_targets(
    tokens: Int[Tensor, "time"], start: int, end: int,
) -> tuple[Int[Tensor, "time+1"], Int[Tensor, "time+1"], Int[Tensor, "time+1"], Int[Tensor, "time+1"]]:
    """Inputs and targets of a forward (left-to-right) and a backward (right-to-left) language model for one text.

    The inputs of the forward model are [START] x₁ … xₙ, one token per position, where [START] is ``start``. At each
    position it predicts the next token, so that its targets are x₁ … xₙ [END]. The backward model starts at the
    other end with [END], ``end``: its inputs are [END] xₙ … x₁. At each position it predicts the preceding token, so
    that its targets are xₙ … x₁ [START]. Return four rows, in this order: forward inputs, forward targets, backward
    inputs, backward targets. For the text [7, 8, 9], start 5 and end 6, they are [5, 7, 8, 9], [7, 8, 9, 6], [6, 9,
    8, 7] and [9, 8, 7, 5].
    """
    whole = torch.tensor([start, *tokens, end])
    turned = whole.flip(0)
    return whole[:-1], whole[1:], turned[:-1], turned[1:]


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 05.3: name → (text `[time]`, id of [START], id of [END])."""
    return {
        "one word": (tensor([8]), 5, 6),
        "three words": (tensor([7, 8, 9]), 5, 6),
        "words that occur twice": (tensor([9, 7, 9, 8, 8]), 5, 6),
        "the same in both directions": (tensor([7, 8, 8, 7]), 3, 1),
        "0 is a word": (tensor([4, 0, 3, 0]), 2, 1),
        "a longer text": (randint(7, 40, (9,), generator=rng), 6, 5),
    }


def scalar_mix(
    layers: Float[Tensor, "layer batch time width"], w: Float[Tensor, "layer"], gamma: float,
) -> Float[Tensor, "batch time width"]:
    """ELMo's learned layer weighting: γ Σⱼ sⱼ hⱼ at each position, with s = softmax(w) (Peters et al. 2018, eq. 1).

    layers[j, i, t] is the vector of layer j at position t of text i. A task learns one scalar w[j] per layer, and one
    scalar γ, ``gamma``, for all. A softmax turns w into weights that sum to 1. The result is the weighted sum of the
    layers, multiplied by γ. For w = [0, 1.1] the weights are 1/4 and 3/4; if one layer is 4 and the other is 8, γ = 2
    gives 2 · (1 + 6) = 14. The result must be correct for values of w in the hundreds.
    """
    return gamma * torch.einsum("l, lbtw -> btw", w.softmax(0), layers)


def draw_layers(rng: Generator) -> Probes:
    """Inputs for 05.4: name → (layers `[layer batch time width]`, w `[layer]`, γ)."""
    def drawn(layers: int, batch: int, time: int, width: int, gamma: float) -> tuple[Tensor, Tensor, float]:
        return randn(layers, batch, time, width, generator=rng), randn(layers, generator=rng), gamma

    layers, w, _ = drawn(3, 2, 4, 5, 1.0)
    return {
        "two layers, one dimension": (tensor([4.0, 8.0]).view(2, 1, 1, 1), tensor([0.0, log(3)]), 2.0),
        "three layers": drawn(3, 2, 5, 4, 0.5),
        "one text, one position": drawn(3, 1, 1, 4, 3.0),
        "as many texts, positions and dimensions as layers": drawn(3, 3, 3, 3, 1.5),
        "w in the hundreds": (layers, 200 * w.abs(), 1.0),
        "large negative w": (layers, w - 300, 2.5),
    }


def nearest_sense(
    vectors: Float[Tensor, "query width"], labelled: Float[Tensor, "row width"], senses: Int[Tensor, "row"],
) -> Int[Tensor, "query"]:
    """The sense of a word in new sentences, by the nearest sense average (Peters et al. 2018, §5.3).

    Row i of ``labelled`` is the vector of the word in a sentence annotated with its sense senses[i], an integer. Each
    row of ``vectors`` is the vector of the word in a new sentence. Average the labelled vectors of each sense. The
    cosine of two vectors is their inner product, divided by the length of each. A new vector gets the id of the sense
    whose average has the highest cosine with it. If [4, 0] and [2, 2] have sense 7, and [0, 1] has sense 3, the
    averages are [3, 1] and [0, 1]. The vector [1, 1] has the cosines 0.89 and 0.71, so its sense is 7.
    """
    ids = senses.unique()
    averages = torch.stack([labelled[senses == id].mean(0) for id in ids])
    return ids[torch.cosine_similarity(vectors[:, None], averages, dim=-1).argmax(1)]


def draw_senses(rng: Generator) -> Probes:
    """Inputs for 05.5: name → (vectors `[query width]`, labelled `[row width]`, senses `[row]`)."""
    def drawn(queries: int, width: int, **counts: int) -> tuple[Tensor, Tensor, Tensor]:
        senses = tensor([int(number[1:]) for number, count in counts.items() for _ in range(count)])
        lengths = 2 ** randn(len(senses), 1, generator=rng)
        labelled = lengths * (1 + randn(len(senses), width, generator=rng))
        order = randperm(len(senses), generator=rng)
        return randn(queries, width, generator=rng), labelled[order], senses[order]

    return {
        "one vector": (tensor([[1.0, 1.0]]), tensor([[4.0, 0.0], [2.0, 2.0], [0.0, 1.0]]), tensor([7, 7, 3])),
        "three senses": drawn(12, 3, s4=5, s2=1, s9=3),
        "as many vectors as senses": drawn(4, 4, s0=2, s1=4, s2=3, s3=2),
        "all senses equally frequent": drawn(10, 2, s8=3, s5=3, s6=3),
        "one vector per sense": drawn(9, 3, s3=1, s1=1, s7=1, s2=1),
        "one sense": drawn(3, 5, s6=4),
        "one sense is frequent": drawn(15, 6, s1=2, s5=12, s3=2),
    }


def previous_word_probs(
    sentences: list[list[int]], probs: list[float], suffix: list[int], vocab_size: int,
) -> Float[Tensor, "vocab"]:
    """The word before a suffix of a sentence: an exact right-to-left language model, by counting.

    A sentence is a list of words, and a word is an integer from 1 to vocab_size − 1. The language consists of these
    ``sentences`` only, and sentence i has the probability probs[i]; a sentence may occur twice. The model is
    right-to-left: it is given the last words ``suffix`` of a sentence, in the order of the text. Return the
    distribution of the word directly before them. The probability of a word is that of all sentences that end in this
    word and then the suffix, divided by that of all sentences that end in the suffix. Word 0 is [START]: it precedes
    the first word of a sentence. With an empty suffix, the last word is predicted. At least one sentence ends in the
    suffix. For the sentences [1, 2], [3, 2] and [2] with the probabilities 0.5, 0.3 and 0.2, the suffix [2] gives
    [0.2, 0.5, 0, 0.3], and [] gives [0, 0, 1, 0].
    """
    sums = torch.zeros(vocab_size)
    for sentence, prob in zip(sentences, probs, strict=True):
        padded = [0, *sentence]
        position = len(padded) - len(suffix)
        if padded[position:] == suffix:
            sums[padded[position - 1]] += prob
    return sums / sums.sum()


def draw_languages(rng: Generator) -> Probes:
    """Inputs for 05.6: name → (sentences, probabilities, suffix, number of words)."""
    def drawn(count: int, longest: int, size: int) -> tuple[list[list[int]], list[float]]:
        lengths = randint(1, longest + 1, (count,), generator=rng).tolist()
        return ([randint(1, size, (length,), generator=rng).tolist() for length in lengths],
                rand(count, generator=rng).add(0.1).log().softmax(0).tolist())

    few, many = ([[1, 2], [3, 2], [2]], [0.5, 0.3, 0.2]), drawn(40, 4, 4)
    return {
        "three sentences, one word is known": (*few, [2], 4),
        "three sentences, nothing is known": (*few, [], 4),
        "a complete sentence": (*few, [3, 2], 4),
        "forty sentences, one word": (*many, [3], 4),
        "forty sentences, two words": (*many, [1, 2], 4),
        "forty sentences, nothing is known": (*many, [], 4),
        "three words, and words that never occur": ([[4, 1, 2, 3], [2, 1, 2, 3], [1, 2, 3, 1], [3, 2, 1], [1, 2, 3],
                                                    [2, 4, 3], [5, 4, 1, 2, 3]],
                                                   [0.1, 0.3, 0.1, 0.1, 0.15, 0.05, 0.2], [1, 2, 3], 7),
    }


EXERCISES = (
    Exercise(
        "05.1", "a word as character ids", character_ids, draw_words,
        mistakes={
            "the ids are code points, by ord, not bytes: in UTF-8 an accented letter has two bytes, a Chinese "
            "character three": edit("byte + 1 for byte in word.encode()", "ord(letter) + 1 for letter in word"),
            "the bytes are not shifted: an id is a byte plus 1": edit("byte + 1", "byte"),
            "1 is added to 259, 260 and 261 too; only the bytes are shifted":
                edit("byte + 1", "byte", "len(codes)))", "len(codes))) + 1"),
            "260 is truncated in a long word: truncate the bytes before 260 is appended":
                edit("[:max_length - 2]", "", "len(codes)))", "len(codes)))[:max_length]"),
            "a long word is not truncated": edit("[:max_length - 2]", ""),
            "`max_length` bytes are kept, with no space left for 259 and 260": edit("max_length - 2", "max_length"),
            "characters are truncated, not bytes: truncate after .encode()":
                edit("word.encode()[:max_length - 2]", "word[:max_length - 2].encode()"),
            "an incomplete character is left out; keep the bytes that fit":
                edit("[:max_length - 2]", '[:max_length - 2].decode(errors="ignore").encode()'),
            "the word is not padded: after 260 comes 261, up to `max_length` ids":
                edit(" + [261] * (max_length - len(codes))", ""),
            "the word is padded with 0; pad with 261": edit("[261]", "[0]"),
        },
        properties={
            "the first id is not 259": lambda out, *_: bool(out[0] == 259),
            "there is not exactly one 260, followed only by 261":
                lambda out, *_: (rest := out[(out == 260).cumsum(0) > 0].tolist()) == [260] + [261] * (len(rest) - 1),
        },
        hints=(
            'How many ids does "naïve" have without those for beginning and end? How many of them fit if `max_length` '
            "is 5?",
            "First encode to bytes. Then truncate them, so that two positions are free. Then add 1 to each, and put "
            "259 before and 260 after them. How many positions are still empty?",
            "word.encode() returns the bytes, and iterating over them gives integers. bytes[:n] is the first n, or "
            "all if there are fewer. + concatenates lists, and [261] * 3 is [261, 261, 261]. torch.tensor(…) converts "
            "a list of integers to a tensor.",
        ),
    ),
    Exercise(
        "05.2", "convolution and max-pooling", convolve_and_pool, draw_filters,
        mistakes={
            "the ReLU is missing: a negative maximum becomes 0": edit(".relu()", ""),
            "this is mean pooling over the positions; take the maximum": edit("amax", "mean"),
            ".max(-1) returns two tensors, the values and their indices: .max(-1).values, or .amax(-1)":
                edit(".amax(-1).relu()", ".relu().max(-1)"),
            "the last position is left out, so that a word of the same length as the filter has none: there are "
            "positions − size + 1": edit("return torch.conv1d(characters.mT, filters.mT, bias)",
                      "sums = torch.conv1d(characters.mT, filters.mT, bias).unbind(-1)\n"
                      "    return torch.stack(sums[:-1], -1)"),
            "the word is padded with 0 at both ends, padding=size // 2: apply a filter only where it fits within the "
            "word": edit("bias)", "bias, padding=filters.shape[1] // 2)"),
            "the bias is missing": edit(", bias)", ")"),
            "the bias is added after the ReLU (or after a maximum that starts at 0); add it before":
                edit(", bias)", ")", ".relu()", ".relu() + bias"),
            "the maximum starts at 0 before the bias is added: start at −∞, or add the bias first":
                edit(", bias)", ")", ".relu()", ".relu().add(bias).relu()"),
            "view or reshape to [words width position] mixes the vectors of the characters: use .transpose(1, 2)":
                edit("characters.mT", "characters.reshape(len(characters), characters.shape[2], -1)"),
            ".squeeze() removes every axis of size 1, including that of a single word or filter: .squeeze(-1)":
                edit(".relu()", ".relu().squeeze()"),
        },
        properties={
            "an entry is negative, or above the value for this word and filter with all inputs replaced by their "
            "absolute values":
                lambda out, characters, filters, bias: bool(((out >= -1e-3) & (out <= convolve_and_pool(
                    characters.abs(), filters.abs(), bias.abs()) + 1e-3)).all()),
        },
        hints=(
            "A word has 5 characters and a filter spans 3. At how many positions does it fit? At how many if the word "
            "has 3 characters?",
            "Three steps: the sums [words filter position], then the maximum over the positions, [words filter], then "
            "the ReLU. Compute the sums by a loop over the positions, or by a convolution.",
            "characters[:, p:p + size] is the window at position p, [words size width]; torch.einsum multiplies it "
            "with all filters. torch.stack combines the positions. Or use torch.conv1d(x, filters, bias) with x [words "
            "width position] and filters [filter width size]: .transpose(1, 2) swaps the last two axes. .amax(-1) is "
            "the maximum, .relu() the positive part.",
        ),
    ),
    Exercise(
        "05.3", "inputs and targets of both directions", bilm_inputs_and_targets, draw_texts,
        mistakes={
            "each target is the token just read, so that the model only copies; shift the targets by one token":
                edit("whole[1:]", "whole[:-1]", "turned[1:]", "turned[:-1]"),
            "[START] and [END] are not read, so that each position reads its own target":
                edit("whole[:-1]", "whole[1:]", "turned[:-1]", "turned[1:]"),
            "both ends are in the inputs and in the targets: the last token is not read, and the first is not a target":
                edit("whole[:-1], whole[1:], turned[:-1], turned[1:]", "whole, whole, turned, turned"),
            "the targets wrap around: a model that starts with one end predicts the other one last":
                edit("whole[1:]", "whole[:-1].roll(-1)", "turned[1:]", "turned[:-1].roll(-1)"),
            "the text is not reversed for the backward model":
                edit("whole.flip(0)", "torch.tensor([end, *tokens, start])"),
            "both directions are the same: reverse the text for the backward model": edit(".flip(0)", ""),
            "the backward rows are in the order of the text; they must be in reading order, starting at [END]":
                edit("turned[:-1], turned[1:]", "whole[1:], whole[:-1]"),
            "the backward model reads [START] first and predicts [END] last; it starts with [END]":
                edit("whole.flip(0)", "torch.tensor([start, *tokens.flip(0), end])"),
            "the backward inputs and targets are swapped: these are the forward rows, reversed":
                edit("turned[:-1], turned[1:]", "turned[1:], turned[:-1]"),
            "both inputs come first; the order is: forward inputs, forward targets, backward inputs, backward targets":
                edit("whole[1:], turned[:-1]", "turned[:-1], whole[1:]"),
        },
        properties={
            "a forward target is not the input of the next position":
                lambda out, *_: torch.equal(out[1][:-1], out[0][1:]),
            "a backward target is not the input of the next position":
                lambda out, *_: torch.equal(out[3][:-1], out[2][1:]),
            "a direction does not start with its boundary token: [START] forward, [END] backward":
                lambda out, tokens, start, end: bool(out[0][0] == start and out[2][0] == end),
        },
        hints=(
            "Write the text with both of its ends: 5 7 8 9 6. Which of these five does the forward model not read? "
            "Which does it not predict?",
            "A model reads all but the last of the five, and predicts all but the first. The backward model does the "
            "same with the five reversed.",
            "torch.tensor([start, *tokens, end]) adds both ends to the text. row[:-1] is all but the last, row[1:] "
            "all but the first. row.flip(0) reverses a row; row[::-1] works for lists only.",
        ),
    ),
    Exercise(
        "05.4", "the learned layer weights", scalar_mix, draw_layers,
        mistakes={
            "the softmax is missing: w itself is used as the weights": edit("w.softmax(0)", "w"),
            "w is divided by its sum; the weights are the softmax of w": edit("w.softmax(0)", "w / w.sum()"),
            "exp of a large w overflows to ∞, and of a large negative one underflows to 0: .softmax subtracts the "
            "maximum first": edit("w.softmax(0)", "by_exp(w)"),
            "a maximum that starts at 0 stays 0 if all w are negative: start at −∞, or use .softmax":
                edit("w.softmax(0)", "by_exp(w - largest_from_zero(w))"),
            "the softmax is over an axis of size 1, so that each layer has the weight 1: apply it over the layers":
                edit("w.softmax(0)", "w[:, None].softmax(-1)[:, 0]"),
            "the softmax is applied to the vectors of the layers; apply it to w":
                edit("w.softmax(0), layers", "w, layers.softmax(0)"),
            "the factor γ is inside the softmax; multiply the sum by it":
                edit("gamma * ", "", "w.softmax", "(gamma * w).softmax"),
            "the factor γ is missing": edit("gamma * ", ""),
            "the weights are along the vector axis: s[:, None, None, None] gives one weight per layer":
                edit('torch.einsum("l, lbtw -> btw", w.softmax(0), layers)', "(w.softmax(0) * layers).sum(0)"),
            ".squeeze() removes every axis of size 1, including a batch of one text or a single position":
                edit("layers)", "layers).squeeze()"),
        },
        properties={
            "an entry, divided by γ, is below or above that of all layers, which is impossible for a weighted mean":
                lambda out, layers, w, gamma: bool(((out / gamma >= layers.amin(0) - 1e-3)
                                                    & (out / gamma <= layers.amax(0) + 1e-3)).all()),
        },
        hints=(
            "If all w are equal, what is the weight of each of three layers? What can γ do that the weights cannot?",
            "Compute the weights from w, one per layer. Multiply each layer, a block [batch time width], by its "
            "weight, and sum the blocks. γ comes last.",
            "w.softmax(0) are the weights s. s[:, None, None, None] * layers is [layer batch time width], and .sum(0) "
            "sums over the layers. torch.einsum does both: it needs a letter for each axis, and the letter "
            "of the layer axis appears only to the left of ->.",
        ),
    ),
    Exercise(
        "05.5", "the nearest sense", nearest_sense, draw_senses,
        mistakes={
            "the inner products are not divided by the lengths of the averages, which favours long averages; use the "
            "length of each row, .norm(dim=1)":
                edit("torch.cosine_similarity(vectors[:, None], averages, dim=-1)", "(vectors @ averages.T)"),
            "the smallest Euclidean distance is used; use the highest cosine":
                edit("torch.cosine_similarity(vectors[:, None], averages, dim=-1).argmax",
                     "torch.cdist(vectors, averages).argmin"),
            "this is the nearest labelled vector (by cosine); use the average of each sense":
                edit("senses.unique()", "senses",
                     "torch.stack([labelled[senses == id].mean(0) for id in ids])", "labelled"),
            "the cosines with all labelled vectors of a sense are averaged: average the vectors first":
                edit("labelled[senses == id]", "torch.nn.functional.normalize(labelled[senses == id])",
                     "torch.cosine_similarity(vectors[:, None], averages, dim=-1)", "(vectors @ averages.T)"),
            "the vectors are normalized before they are averaged; average them as they are":
                edit("labelled[senses == id]", "torch.nn.functional.normalize(labelled[senses == id])"),
            "the vectors are normalized along the wrong axis: F.normalize and .norm work on rows with dim=1":
                edit("torch.cosine_similarity(vectors[:, None], averages, dim=-1)",
                     "(vectors / vectors.norm(dim=0) @ (averages / averages.norm(dim=0)).T)"),
            "this is the index into the list of senses; return the id of the sense":
                edit("ids[torch", "(torch", "argmax(1)]", "argmax(1))"),
            "the senses are assumed to be 0, 1, 2, …; an id that does not occur has the average NaN: use "
            "senses.unique()": edit("senses.unique()", "torch.arange(int(senses.max()) + 1)"),
            "the index into the list of senses is used to index `senses`, which has one entry per labelled vector":
                edit("ids[torch", "senses[torch"),
            "the argmax is over the vectors, so that each sense gets a vector: each vector needs a sense":
                edit("argmax(1)", "argmax(0)"),
        },
        properties={
            "a result is not one of the senses":
                lambda out, vectors, labelled, senses: bool(torch.isin(out, senses).all()),
        },
        hints=(
            "One sense has an average of length 10, another one of length 1. A new vector has the direction of the "
            "short one. Which average may have the larger inner product with it, and which has the higher cosine?",
            "Which senses are there? Compute one average per sense. Compute a matrix of cosines, one row per new "
            "vector and one column per sense. Find the best column in each row, and return the id of that sense.",
            "senses.unique() returns the different ids, sorted. labelled[senses == 7] are the rows of sense 7, and "
            ".mean(0) is their average. x / x.norm(dim=1, keepdim=True) scales each row to length 1. table.argmax(1) "
            "returns column indices, and ids[indices] the ids.",
        ),
    ),
    Exercise(
        "05.6", "a right-to-left language model", previous_word_probs, draw_languages,
        mistakes={
            "the suffix is matched anywhere in a sentence; match it at the end only":
                edit("position = len(padded) - len(suffix)\n        if padded[position:] == suffix",
                     "for position in [i for i in range(1, len(padded) - len(suffix) + 1)\n"
                     "                      if padded[i:i + len(suffix)] == suffix]"),
            "the suffix is matched as a prefix, and the next word is predicted; match the last words of a sentence":
                edit("[0, *sentence]", "[*sentence, 0]", "len(padded) - len(suffix)", "len(suffix)",
                     "padded[position:]", "padded[:position]", "position - 1", "position"),
            "sentences are counted; sum their probabilities": edit("+= prob", "+= 1"),
            "no sentence matches, and 0 / 0 is NaN: compare the last words, a list, with the suffix, a list":
                edit("padded[position:] == suffix", "suffix in padded"),
            "a probability is overwritten if two sentences have the same word before the suffix: use +=, not =":
                edit("+= prob", "= prob"),
            "[START] is left out: a sentence that equals the suffix adds to word 0":
                edit("if padded", "if position > 1 and padded"),
            "the word before the first one is 0, [START]; words[-1] is the last word":
                edit("[0, *sentence]", "sentence"),
            "an empty suffix never matches: words[-0:] is the whole sentence; use words[len(words) - len(suffix):]":
                edit("padded[position:]", "padded[-len(suffix):]"),
            "the suffix is reversed; it is given in the order of the text": edit("== suffix", "== suffix[::-1]"),
            "all sentences are counted, whether they end in the suffix or not":
                edit("padded[position:] == suffix", "position > 0"),
        },
        properties={
            "a probability is outside 0 … 1": lambda out, *_: bool(((out >= -1e-4) & (out <= 1 + 1e-4)).all()),
            "the probabilities do not sum to 1": lambda out, *_: bool((out.sum() - 1).abs() < 1e-3),
        },
        hints=(
            'The sentence [2] ends in the suffix [2]. What is the word before it? And what is words[-0:], the "last 0 '
            'words" of a list?',
            "Start with a vector of zeros, one per word. For each sentence: does it end in the suffix? Then add its "
            "probability to one entry. Which? At the end divide the vector by one number.",
            "[0, *sentence] prepends [START] to a sentence. words[len(words) - n:] are the last n words, also for n = "
            "0. == compares two lists element by element. sums[word] += prob accumulates; sums.sum() is the total.",
        ),
    ),
)
