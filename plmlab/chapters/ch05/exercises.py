"""Exercises of chapter 05: ELMo, from character input to word-sense disambiguation."""

from math import log

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, rand, randint, randn, randperm, tensor

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def spell(word: str, longest: int) -> Int[Tensor, "time"]:
    """Spell a word as the codes that ELMo reads: ``longest`` of them, at least 3.

    The first code is 259, the begin of the word. Then comes one code for each byte of the word in UTF-8: the byte
    plus 1. An English letter is one byte, other characters are two to four. Then comes 260, the end of the word.
    The rest is filled up with 261. If there are too many bytes, the last ones are left out, so that 259 and 260
    still find room; a character may lose some of its bytes. The bytes of "n" and "o" are 110 and 111, so
    that "no" with longest = 6 becomes the tensor [259, 111, 112, 260, 261, 261].
    """
    codes = [259, *(byte + 1 for byte in word.encode()[:longest - 2]), 260]
    return torch.tensor(codes + [261] * (longest - len(codes)))


def draw_words(rng: Generator) -> Probes:
    """Inputs for 05.1: name → (word, number of character codes)."""
    letters = randint(ord("a"), ord("z") + 1, (9,), generator=rng).tolist()
    return {
        "a short word": ("no", 6),
        "a longer word": ("".join(map(chr, letters)), 14),
        "two accents": ("Été", 9),
        "Chinese": ("北京", 12),
        "just enough room": ("word", 6),
        "one byte too many": ("words", 6),
        "much too long": ("characters", 5),
        "cut inside a character": ("naïve", 5),
    }


def found(
    letters: Float[Tensor, "words places width"], filters: Float[Tensor, "value size width"],
    bias: Float[Tensor, "value"],
) -> Float[Tensor, "words value"]:
    """What filters find in the letters of words: the middle of a character CNN.

    letters[i, p] is the vector of letter p of word i. Filter k is a few vectors too: filters[k, 0], filters[k, 1], …,
    as many as ``size`` says. Lay it on as many neighbouring letters. Take the inner product of each letter and
    the vector that lies on it, and add all of these up, and bias[k] once. Do so at each place where the whole filter
    fits on the word. Asked is, for each word and filter, the largest of these sums, or 0 if it is negative (ReLU).
    For a word of the numbers 1, 3, −2 and the filter 1, 2 with the bias −1, the sums are 1 + 6 − 1 = 6 and
    3 − 4 − 1 = −2, and it is 6.
    """
    return torch.conv1d(letters.mT, filters.mT, bias).amax(-1).relu()


def draw_filters(rng: Generator) -> Probes:
    """Inputs for 05.2: name → (characters `[words places width]`, filters `[value size width]`, bias `[value]`)."""
    def drawn(words: int, places: int, width: int, count: int, size: int) -> tuple[Tensor, Tensor, Tensor]:
        shapes = (words, places, width), (count, size, width), (count,)
        letters, filters, bias = (randn(shape, generator=rng) for shape in shapes)
        return letters, filters, bias

    letters, filters, _ = drawn(2, 6, 4, 3, 2)
    return {
        "one word, one filter": (tensor([[[1.0], [3.0], [-2.0]]]), tensor([[[1.0], [2.0]]]), tensor([-1.0])),
        "three words, five filters": drawn(3, 7, 4, 5, 3),
        "all sums are negative, but for the bias": (letters.abs(), -filters.abs(), tensor([0.5, 3.0, -2.0])),
        "words as long as the filters": drawn(2, 4, 3, 5, 4),
        "as many letters as numbers": drawn(3, 5, 5, 2, 2),
        "filters as long as wide": drawn(2, 6, 3, 4, 3),
        "filters of one letter": drawn(4, 5, 2, 3, 1),
    }


def both_sides(
    tokens: Int[Tensor, "time"], start: int, end: int,
) -> tuple[Int[Tensor, "time+1"], Int[Tensor, "time+1"], Int[Tensor, "time+1"], Int[Tensor, "time+1"]]:
    """What two language models read and say of one text: one from the left, and one from the right.

    The first begins with [START], ``start``: it reads [START] x₁ … xₙ, one token per position. After each it says the
    token that comes next, so that it says x₁ … xₙ [END]. The second begins at the other side with [END], ``end``: it
    reads [END] xₙ … x₁. After each it says the token before, so that it says xₙ … x₁ [START]. Give four rows, in this
    order: what the first reads, what it says, what the second reads, what it says. For the text [7, 8, 9], start 5
    and end 6, they are [5, 7, 8, 9], [7, 8, 9, 6], [6, 9, 8, 7] and [9, 8, 7, 5].
    """
    whole = torch.tensor([start, *tokens, end])
    turned = whole.flip(0)
    return whole[:-1], whole[1:], turned[:-1], turned[1:]


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 05.3: name → (text `[time]`, id of [START], id of [END])."""
    return {
        "one word": (tensor([8]), 5, 6),
        "three words": (tensor([7, 8, 9]), 5, 6),
        "words that stand twice": (tensor([9, 7, 9, 8, 8]), 5, 6),
        "the same from both sides": (tensor([7, 8, 8, 7]), 3, 1),
        "0 is a word": (tensor([4, 0, 3, 0]), 2, 1),
        "a longer text": (randint(7, 40, (9,), generator=rng), 6, 5),
    }


def mix(
    layers: Float[Tensor, "layer batch time width"], w: Float[Tensor, "layer"], gamma: float,
) -> Float[Tensor, "batch time width"]:
    """Make one vector a position of all layers of a model: γ Σⱼ sⱼ hⱼ with s = softmax(w) (Peters et al. 2018, eq. 1).

    layers[j, i, t] is the vector that layer j has in position t of text i. A task learns one number w[j] per layer,
    and one number γ, ``gamma``, for all. A softmax turns the numbers w into shares that add up to 1. Each layer is
    multiplied with its share, and all are added up. The sum is multiplied with γ. For w = [0, 1.1] the shares are 1/4
    and 3/4; where one layer has 4 and the other has 8, γ = 2 gives 2 · (1 + 6) = 14. Numbers w in the hundreds
    must do no harm.
    """
    return gamma * torch.einsum("l, lbtw -> btw", w.softmax(0), layers)


def draw_layers(rng: Generator) -> Probes:
    """Inputs for 05.4: name → (layers `[layer batch time width]`, w `[layer]`, γ)."""
    def drawn(layers: int, batch: int, time: int, width: int, gamma: float) -> tuple[Tensor, Tensor, float]:
        return randn(layers, batch, time, width, generator=rng), randn(layers, generator=rng), gamma

    layers, w, _ = drawn(3, 2, 4, 5, 1.0)
    return {
        "two layers, a number each": (tensor([4.0, 8.0]).view(2, 1, 1, 1), tensor([0.0, log(3)]), 2.0),
        "three layers": drawn(3, 2, 5, 4, 0.5),
        "one text, one position": drawn(3, 1, 1, 4, 3.0),
        "as many texts, positions and numbers as layers": drawn(3, 3, 3, 3, 1.5),
        "w in the hundreds": (layers, 200 * w.abs(), 1.0),
        "all w far below 0": (layers, w - 300, 2.5),
    }


def sense_of(
    vectors: Float[Tensor, "query width"], known: Float[Tensor, "row width"], senses: Int[Tensor, "row"],
) -> Int[Tensor, "query"]:
    """Say in which sense a word stands in new sentences, by its vectors (Peters et al. 2018, §5.3).

    Row i of ``known`` is the vector of the word in a sentence whose sense a person has told: it is senses[i], a number.
    Each row of ``vectors`` is the vector of the word in a new sentence. Average the known vectors of each
    sense. The cosine of two vectors is their inner product, divided by the length of each. A new vector gets the
    number of the sense whose average has the highest cosine with it. If [4, 0] and [2, 2] have sense 7, and [0, 1]
    has sense 3, the averages are [3, 1] and [0, 1]. The vector [1, 1] has the cosines 0.89 and 0.71: its sense is 7.
    """
    numbers = senses.unique()
    averages = torch.stack([known[senses == number].mean(0) for number in numbers])
    return numbers[torch.cosine_similarity(vectors[:, None], averages, dim=-1).argmax(1)]


def draw_senses(rng: Generator) -> Probes:
    """Inputs for 05.5: name → (vectors `[query width]`, known `[row width]`, senses `[row]`)."""
    def drawn(queries: int, width: int, **counts: int) -> tuple[Tensor, Tensor, Tensor]:
        senses = tensor([int(number[1:]) for number, count in counts.items() for _ in range(count)])
        lengths = 2 ** randn(len(senses), 1, generator=rng)
        known = lengths * (1 + randn(len(senses), width, generator=rng))
        order = randperm(len(senses), generator=rng)
        return randn(queries, width, generator=rng), known[order], senses[order]

    return {
        "one vector": (tensor([[1.0, 1.0]]), tensor([[4.0, 0.0], [2.0, 2.0], [0.0, 1.0]]), tensor([7, 7, 3])),
        "three senses": drawn(12, 3, s4=5, s2=1, s9=3),
        "as many vectors as senses": drawn(4, 4, s0=2, s1=4, s2=3, s3=2),
        "all senses just as frequent": drawn(10, 2, s8=3, s5=3, s6=3),
        "one vector for each sense": drawn(9, 3, s3=1, s1=1, s7=1, s2=1),
        "one sense": drawn(3, 5, s6=4),
        "one sense is frequent": drawn(15, 6, s1=2, s5=12, s3=2),
    }


def word_before(
    sentences: list[list[int]], chances: list[float], suffix: list[int], size: int,
) -> Float[Tensor, "vocab"]:
    """Which word stands before the end of a sentence? An exact language model from the right, by counting.

    A sentence is a list of words, and a word is a number from 1 to size − 1. The language has these ``sentences`` only,
    and sentence i has the probability chances[i]; a sentence may stand twice. The model has read from the right: it
    knows that a sentence ends in the words ``suffix``, in the order of the text. Which word stands right before them?
    Each word gets the probability of all sentences that end in this word and then the suffix, divided by the
    probability of all sentences that end in the suffix. Number 0 is [START]: it stands before the first word of a
    sentence. An empty suffix asks for the last word. At least one sentence ends in the suffix. For the sentences
    [1, 2], [3, 2] and [2] with the probabilities 0.5, 0.3 and 0.2, the suffix [2] gives [0.2, 0.5, 0, 0.3], and []
    gives [0, 0, 1, 0].
    """
    sums = torch.zeros(size)
    for sentence, chance in zip(sentences, chances, strict=True):
        read = [0, *sentence]
        place = len(read) - len(suffix)
        if read[place:] == suffix:
            sums[read[place - 1]] += chance
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
        "a sentence to its beginning": (*few, [3, 2], 4),
        "forty sentences, one word": (*many, [3], 4),
        "forty sentences, two words": (*many, [1, 2], 4),
        "forty sentences, nothing is known": (*many, [], 4),
        "three words, and words that never come": ([[4, 1, 2, 3], [2, 1, 2, 3], [1, 2, 3, 1], [3, 2, 1], [1, 2, 3],
                                                    [2, 4, 3], [5, 4, 1, 2, 3]],
                                                   [0.1, 0.3, 0.1, 0.1, 0.15, 0.05, 0.2], [1, 2, 3], 7),
    }


EXERCISES = (
    Exercise(
        "05.1", "a word as codes", spell, draw_words,
        mistakes={
            "these are characters, by ord, not bytes: in UTF-8 an accented letter has two bytes, a Chinese character "
            "three": edit("byte + 1 for byte in word.encode()", "ord(letter) + 1 for letter in word"),
            "the bytes are not shifted: a code is a byte plus 1": edit("byte + 1", "byte"),
            "1 is added to 259, 260 and 261 too; only the bytes are shifted":
                edit("byte + 1", "byte", "len(codes)))", "len(codes))) + 1"),
            "the end of a long word is cut off: it is the bytes that are cut, before 260 is put behind them":
                edit("[:longest - 2]", "", "len(codes)))", "len(codes)))[:longest]"),
            "the bytes of a long word are not cut": edit("[:longest - 2]", ""),
            "`longest` bytes are kept, with no room left for 259 and 260": edit("longest - 2", "longest"),
            "characters are cut, not bytes: cut after .encode()":
                edit("word.encode()[:longest - 2]", "word[:longest - 2].encode()"),
            "a character that is cut in two is left out; the bytes that find room stay":
                edit("[:longest - 2]", '[:longest - 2].decode(errors="ignore").encode()'),
            "the word is not filled up: after 260 comes 261, up to `longest` codes":
                edit(" + [261] * (longest - len(codes))", ""),
            "the word is filled up with 0; the filler is 261": edit("[261]", "[0]"),
        },
        properties={
            "the first code is not 259": lambda out, *_: bool(out[0] == 259),
            "there is not one 260 with nothing but 261 behind it":
                lambda out, *_: (rest := out[(out == 260).cumsum(0) > 0].tolist()) == [260] + [261] * (len(rest) - 1),
        },
        hints=(
            "How many codes has \"naïve\" without its begin and end? And how many of them find room if `longest` is 5?",
            "First the bytes. Then cut them, so that two places are free. Then add 1 to each, and put 259 before and "
            "260 behind them. How many places are still empty now?",
            "word.encode() gives the bytes, and a loop over them gives whole numbers. bytes[:n] are the first n, or "
            "all if there are fewer. Lists are joined by +, and [261] * 3 is [261, 261, 261]. torch.tensor(…) makes a "
            "tensor of a list of whole numbers.",
        ),
    ),
    Exercise(
        "05.2", "what filters find", found, draw_filters,
        mistakes={
            "the ReLU is missing: a negative maximum becomes 0": edit(".relu()", ""),
            "this is the mean over the places; it is the largest": edit("amax", "mean"),
            ".max(-1) gives two tensors, the numbers and their places: .max(-1).values, or .amax(-1)":
                edit(".amax(-1).relu()", ".relu().max(-1)"),
            "the last place is left out, so that a word just as long as a filter has none: a word has places − size + "
            "1": edit("return torch.conv1d(letters.mT, filters.mT, bias)",
                      "sums = torch.conv1d(letters.mT, filters.mT, bias).unbind(-1)\n"
                      "    return torch.stack(sums[:-1], -1)"),
            "the word is padded with 0 at both ends, padding=size // 2: a filter lies only where it fits":
                edit("bias)", "bias, padding=filters.shape[1] // 2)"),
            "the bias is missing": edit(", bias)", ")"),
            "the bias is added after the ReLU (or after a maximum that starts at 0); it comes before":
                edit(", bias)", ")", ".relu()", ".relu() + bias"),
            "the maximum starts at 0 before the bias is added: start at −∞, or add the bias first":
                edit(", bias)", ")", ".relu()", ".relu().add(bias).relu()"),
            "letters have been brought to [words width places] by view or reshape, which mixes them: .transpose(1, 2)":
                edit("letters.mT", "letters.reshape(len(letters), letters.shape[2], -1)"),
            ".squeeze() takes away every axis of size 1, that of one word or one filter too: .squeeze(-1)":
                edit(".relu()", ".relu().squeeze()"),
        },
        properties={
            "a number lies below 0, or above all that its filter could make of the word if no number were negative":
                lambda out, letters, filters, bias: bool(
                    ((out >= -1e-3) & (out <= found(letters.abs(), filters.abs(), bias.abs()) + 1e-3)).all()),
        },
        hints=(
            "A word has 5 letters and a filter lies on 3. At how many places does it fit? At how many if the word has "
            "3 letters?",
            "Three steps: the sums [words value places], then the largest over the places, [words value], then the "
            "ReLU. For the sums there is a loop over the places, or a convolution.",
            "letters[:, p:p + size] is the window at place p, [words size width]; torch.einsum multiplies it with all "
            "filters. torch.stack puts the places side by side. Or torch.conv1d(x, filters, bias) with x [words width "
            "places] and filters [value width size]: .transpose(1, 2) swaps the last two axes. .amax(-1) is the "
            "largest, .relu() the positive part.",
        ),
    ),
    Exercise(
        "05.3", "a text from both sides", both_sides, draw_texts,
        mistakes={
            "each position says the token that it has just read, so that it only copies; what is said is one token "
            "further": edit("whole[1:]", "whole[:-1]", "turned[1:]", "turned[:-1]"),
            "the ends are not read, so that each position reads the very token that it says":
                edit("whole[:-1]", "whole[1:]", "turned[:-1]", "turned[1:]"),
            "both ends are read and both are said: the last token is not read, and the first is not said":
                edit("whole[:-1], whole[1:], turned[:-1], turned[1:]", "whole, whole, turned, turned"),
            "what is said comes round the end: a side that begins with one end says the other one last":
                edit("whole[1:]", "whole[:-1].roll(-1)", "turned[1:]", "turned[:-1].roll(-1)"),
            "the text is not turned round for the side from the right":
                edit("whole.flip(0)", "torch.tensor([end, *tokens, start])"),
            "both sides are the same: the one from the right is not turned round": edit(".flip(0)", ""),
            "the rows from the right stand in the order of the text; they stand in the order of reading, from [END] "
            "on": edit("turned[:-1], turned[1:]", "whole[1:], whole[:-1]"),
            "the side from the right reads [START] first and says [END] last; it begins at [END]":
                edit("whole.flip(0)", "torch.tensor([start, *tokens.flip(0), end])"),
            "from the right, what is read and what is said have changed places: this is each row from the left, turned "
            "round": edit("turned[:-1], turned[1:]", "turned[1:], turned[:-1]"),
            "both rows that are read come first; the order is: reads left, says left, reads right, says right":
                edit("whole[1:], turned[:-1]", "turned[:-1], whole[1:]"),
        },
        properties={
            "from the left, a position does not say what the next position reads":
                lambda out, *_: torch.equal(out[1][:-1], out[0][1:]),
            "from the right, a position does not say what the next position reads":
                lambda out, *_: torch.equal(out[3][:-1], out[2][1:]),
            "a side does not begin at its end of the text":
                lambda out, tokens, start, end: bool(out[0][0] == start and out[2][0] == end),
        },
        hints=(
            "Write the text with both of its ends: 5 7 8 9 6. Which of these five does the first model not read? Which "
            "does it not say?",
            "A side reads all but the last of the five, and says all but the first. The other side does the same with "
            "the five turned round.",
            "torch.tensor([start, *tokens, end]) puts the ends around the text. row[:-1] is all but the last, row[1:] "
            "all but the first. row.flip(0) turns a row round; row[::-1] works for lists only.",
        ),
    ),
    Exercise(
        "05.4", "a mix of layers", mix, draw_layers,
        mistakes={
            "the softmax is missing: w itself is taken for the shares": edit("w.softmax(0)", "w"),
            "the numbers w are divided by their sum; the shares are a softmax of it":
                edit("w.softmax(0)", "w / w.sum()"),
            "exp of a large w is infinite, and of w far below 0 it is 0: .softmax takes the largest away first":
                edit("w.softmax(0)", "by_exp(w)"),
            "a maximum that starts at 0 stays 0 where all w are negative: start at −∞, or take .softmax":
                edit("w.softmax(0)", "by_exp(w - largest_from_zero(w))"),
            "the softmax runs over an axis of size 1, so that each layer has the share 1: it runs over the layers":
                edit("w.softmax(0)", "w[:, None].softmax(-1)[:, 0]"),
            "the softmax runs over the layers' vectors; it is taken of w":
                edit("w.softmax(0), layers", "w, layers.softmax(0)"),
            "the factor γ stands inside the softmax; it multiplies the sum":
                edit("gamma * ", "", "w.softmax", "(gamma * w).softmax"),
            "the factor γ is forgotten": edit("gamma * ", ""),
            "the shares lie along the numbers of a vector: s[:, None, None, None] gives each layer its own":
                edit('torch.einsum("l, lbtw -> btw", w.softmax(0), layers)', "(w.softmax(0) * layers).sum(0)"),
            ".squeeze() takes away every axis of size 1, that of one text or of one position too":
                edit("layers)", "layers).squeeze()"),
        },
        properties={
            "a number, divided by γ, lies below or above that of all layers, which no mean does":
                lambda out, layers, w, gamma: bool(((out / gamma >= layers.amin(0) - 1e-3)
                                                    & (out / gamma <= layers.amax(0) + 1e-3)).all()),
        },
        hints=(
            "If all w are equal, what is the share of each of three layers? What does γ do that the shares cannot?",
            "Make the shares of w, one a layer. Multiply each layer, a block [batch time width], with its share, and "
            "add up the blocks. γ comes last.",
            "w.softmax(0) are the shares. shares[:, None, None, None] * layers is [layer batch time width], and "
            ".sum(0) adds up the layers. torch.einsum does both: it wants a letter for each axis, and that of the "
            "layers stands on the left of -> only.",
        ),
    ),
    Exercise(
        "05.5", "the sense of a word", sense_of, draw_senses,
        mistakes={
            "the inner products are not divided by the lengths of the averages: long ones win; each row has its own "
            "length, .norm(dim=1)":
                edit("torch.cosine_similarity(vectors[:, None], averages, dim=-1)", "(vectors @ averages.T)"),
            "the smallest Euclidean distance is taken; it is the highest cosine":
                edit("torch.cosine_similarity(vectors[:, None], averages, dim=-1).argmax",
                     "torch.cdist(vectors, averages).argmin"),
            "the nearest known vector decides (by its cosine); it is the average of each sense":
                edit("senses.unique()", "senses",
                     "torch.stack([known[senses == number].mean(0) for number in numbers])", "known"),
            "the cosines with all known vectors of a sense are averaged: average the vectors first":
                edit("known[senses == number]", "torch.nn.functional.normalize(known[senses == number])",
                     "torch.cosine_similarity(vectors[:, None], averages, dim=-1)", "(vectors @ averages.T)"),
            "the vectors are scaled to the length 1 before they are averaged; average them as they are":
                edit("known[senses == number]", "torch.nn.functional.normalize(known[senses == number])"),
            "the vectors are scaled along the wrong axis: F.normalize and .norm take the lengths of rows with dim=1":
                edit("torch.cosine_similarity(vectors[:, None], averages, dim=-1)",
                     "(vectors / vectors.norm(dim=0) @ (averages / averages.norm(dim=0)).T)"),
            "this is the place of the sense among the senses; asked is its number":
                edit("numbers[torch", "(torch", "argmax(1)]", "argmax(1))"),
            "the senses are taken for 0, 1, 2, …; a number that is no sense has the average NaN: take senses.unique()":
                edit("senses.unique()", "torch.arange(int(senses.max()) + 1)"),
            "the place among the senses is looked up in `senses`, which has one number for each known vector":
                edit("numbers[torch", "senses[torch"),
            "the maximum runs over the vectors, so that each sense gets one of them: each vector gets a sense":
                edit("argmax(1)", "argmax(0)"),
        },
        properties={
            "a number is that of no sense":
                lambda out, vectors, known, senses: bool(torch.isin(out, senses).all()),
        },
        hints=(
            "One sense has an average of length 10, another one of length 1. A new vector points just where the short "
            "one points. Which has the larger inner product with it, and which the higher cosine?",
            "Which senses are there? Make one average for each. Make a table of cosines, a row for each new vector and "
            "a column for each sense. Find the best place in each row, and say which sense has that place.",
            "senses.unique() are the different numbers, sorted. known[senses == 7] are the rows of sense 7, and "
            ".mean(0) is their average. x / x.norm(dim=1, keepdim=True) scales each row to the length 1. "
            "table.argmax(1) gives places, and numbers[places] the numbers at them.",
        ),
    ),
    Exercise(
        "05.6", "the word before", word_before, draw_languages,
        mistakes={
            "the suffix may stand anywhere in a sentence; it ends it":
                edit("place = len(read) - len(suffix)\n        if read[place:] == suffix",
                     "for place in [i for i in range(1, len(read) - len(suffix) + 1)\n"
                     "                      if read[i:i + len(suffix)] == suffix]"),
            "the last words are taken for the first: this is the word after a sentence's beginning":
                edit("[0, *sentence]", "[*sentence, 0]", "len(read) - len(suffix)", "len(suffix)",
                     "read[place:]", "read[:place]", "place - 1", "place"),
            "sentences are counted; add up their chances": edit("+= chance", "+= 1"),
            "no sentence fits, and 0 / 0 is NaN: compare the last words, a list, with the suffix, a list":
                edit("read[place:] == suffix", "suffix in read"),
            "a chance is written over where two sentences have the same word before the suffix: += adds, = does not":
                edit("+= chance", "= chance"),
            "[START] is left out: a sentence that is the suffix and nothing more counts for number 0":
                edit("if read", "if place > 1 and read"),
            "before the first word stands 0, [START]; words[-1] is the last word": edit("[0, *sentence]", "sentence"),
            "an empty suffix fits nowhere: words[-0:] is the whole sentence; take words[len(words) - len(suffix):]":
                edit("read[place:]", "read[-len(suffix):]"),
            "the suffix is read from the right; it stands in the order of the text":
                edit("== suffix", "== suffix[::-1]"),
            "all sentences count, whether they end in the suffix or not":
                edit("read[place:] == suffix", "place > 0"),
        },
        properties={
            "a chance lies beyond 0 and 1": lambda out, *_: bool(((out >= -1e-4) & (out <= 1 + 1e-4)).all()),
            "the chances do not add up to 1": lambda out, *_: bool((out.sum() - 1).abs() < 1e-3),
        },
        hints=(
            "The sentence [2] ends in the suffix [2]. What stands before it? And what do you get if you ask Python for "
            "the last 0 words of a list by words[-0:]?",
            "Begin with size zeros. Go through the sentences: does this one end in the suffix? Then add its chance "
            "to one place. Which? At the end divide all by one number.",
            "[0, *sentence] puts [START] before a sentence. words[len(words) - n:] are the last n words, for n = 0 "
            "too. Two lists are equal if all their numbers are. sums[word] += chance adds; sums.sum() adds up all.",
        ),
    ),
)
