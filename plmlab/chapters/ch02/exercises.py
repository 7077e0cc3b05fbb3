"""Exercises of chapter 02: word vectors, from skip-gram pairs to the optimum of negative sampling."""

from math import log

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, randint, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def window_pairs(words: list[int], reach: list[int]) -> Int[Tensor, "pair 2"]:
    """The (word, context word) pairs that skip-gram is trained on, for one sentence.

    ``words`` are the ids of the sentence's words, two or more. The window at position i has its own size,
    reach[i], at least 1. It contains all other positions at a distance of at most reach[i], to the left and
    to the right, up to the ends of the sentence. Each row of the result is the word at position i, then the
    word at a position j in its window. Rows are sorted by i, and for the same i by j.
    """
    positions = range(len(words))
    pairs = [(words[i], words[j]) for i in positions for j in positions if 0 < abs(i - j) <= reach[i]]
    return torch.tensor(pairs)


def draw_sentences(rng: Generator) -> Probes:
    """Inputs for 02.1: name → (words, the window size at each word)."""
    def drawn(least: int, most: int) -> list[int]:
        return randint(least, most + 1, (9,), generator=rng).tolist()

    return {
        "two words": ([7, 4], [1, 2]),
        "five words, each with its own window size": ([3, 8, 5, 9, 6], [2, 1, 3, 1, 2]),
        "words that occur twice": ([5, 8, 5, 5, 2, 8], [3, 1, 2, 1, 4, 2]),
        "a window beyond both ends": ([4, 9, 6], [3, 2, 3]),
        "nine words": (drawn(10, 19), drawn(1, 5)),
    }


def cbow_hidden(
    contexts: Int[Tensor, "batch positions"], vectors: Float[Tensor, "vocab model"], pad: int,
) -> Float[Tensor, "batch model"]:
    """The hidden vector of CBOW: the mean of the vectors of the context words.

    Each row of ``contexts`` holds the ids of the context words of one word. Row i of ``vectors`` is the
    vector of the word with id i. At the ends of a sentence there are fewer context words, and the remaining
    positions hold the id ``pad``. Padding may occur in any position and is ignored. A row that is all padding
    gives zeros.
    """
    is_word = (contexts != pad)[..., None]
    return (vectors[contexts] * is_word).sum(1) / is_word.sum(1).clamp(min=1)


def draw_contexts(rng: Generator) -> Probes:
    """Inputs for 02.2: name → (contexts, vectors, the padding id)."""
    def drawn(rows: list[list[int]], pad: int, vocab: int, model: int) -> tuple[Tensor, Tensor, int]:
        return torch.tensor(rows), randn(vocab, model, generator=rng), pad

    contexts, zeros, pad = drawn([[1, 2, 0], [2, 3, 1]], 0, 4, 2)
    zeros[[0, 2]] = 0
    return {
        "two words and one padding position":
            (torch.tensor([[1, 2, 0]]), torch.tensor([[3.0, -1.0], [2.0, 4.0], [-1.0, 1.0]]), 0),
        "padding in any position": drawn([[3, 0, 5, 1], [0, 0, 2, 4], [1, 2, 3, 4]], 0, 6, 5),
        "another id for padding": drawn([[0, 4, 2], [4, 1, 0]], 4, 5, 4),
        "a row that is all padding": drawn([[2, 1], [3, 3]], 3, 4, 3),
        "the same number of rows, positions and dimensions": drawn([[1, 0, 4], [2, 3, 1], [0, 0, 2]], 0, 5, 3),
        "a word that occurs twice, all entries negative":
            (torch.tensor([[2, 2, 3, 0]]), -1 - randn(4, 3, generator=rng).abs(), 0),
        "a vector of zeros for padding, and one for a word": (contexts, zeros, pad),
    }


def largest(contexts: Tensor, vectors: Tensor, pad: int) -> Tensor:
    """Element-wise maximum over the context vectors of each row of 02.2; 0 for a row without words."""
    words = (contexts != pad)[..., None]
    return vectors[contexts].masked_fill(~words, -torch.inf).amax(1).masked_fill(~words.any(1), 0)


def noise_distribution(counts: Float[Tensor, "vocab"], power: float = 0.75) -> Float[Tensor, "vocab"]:
    """The noise distribution from which negative samples are drawn (Mikolov et al. 2013b).

    ``counts`` is how often each word occurs in the text. A word's probability is proportional to its count
    raised to ``power``, which is above 0. The probabilities sum to 1. A word with a count of 0 has
    probability 0.
    """
    powers = counts ** power
    return powers / powers.sum()


def draw_counts(_: Generator) -> Probes:
    """Inputs for 02.3: name → (counts, power)."""
    return {
        "two words, one 16 times as frequent as the other": (torch.tensor([1.0, 16]), 0.75),
        "a word that never occurs": (torch.tensor([81.0, 0, 16, 1]), 0.75),
        "the power 1/2": (torch.tensor([4.0, 9, 1, 25, 2]), 0.5),
        "from a thousand times to once": (torch.tensor([1000.0, 480, 333, 70, 7, 3, 1]), 0.75),
        "a single word": (torch.tensor([12.0]), 0.75),
    }


def negative_sampling_loss(
    word: Float[Tensor, "batch model"], context: Float[Tensor, "batch model"],
    negatives: Float[Tensor, "batch negative model"],
) -> Float[Tensor, ""]:
    """The loss of skip-gram with negative sampling, in nats (Mikolov et al. 2013b).

    Row i of ``word`` is a word's vector w, row i of ``context`` is the vector c of one of its context words.
    negatives[i] are the vectors n of the k negatives drawn for this pair. A score is a dot product. The loss
    of a pair is −log σ(w·c), plus −log σ(−w·n) for each of its negatives, where σ(x) = 1 / (1 + e^−x). Return
    the mean over the batch. It must be finite for scores of 300 and −300.
    """
    log_sigmoid = torch.nn.functional.logsigmoid
    positive, negative = (word * context).sum(-1), (word[:, None] * negatives).sum(-1)
    return -(log_sigmoid(positive) + log_sigmoid(-negative).sum(-1)).mean()


def draw_negatives(rng: Generator) -> Probes:
    """Inputs for 02.4: name → (word, context, negatives)."""
    def drawn(batch: int, negatives: int, model: int, scale: float = 1.0) -> tuple[Tensor, ...]:
        return (randn(batch, model, generator=rng), scale * randn(batch, model, generator=rng),
                scale * randn(batch, negatives, model, generator=rng))

    ones = torch.ones(2, 4)
    return {
        "one pair, one negative, one dimension":
            (torch.tensor([[2.0]]), torch.tensor([[0.5]]), torch.tensor([[[-1.5]]])),
        "three pairs, two negatives, five dimensions": drawn(3, 2, 5),
        "the same number of pairs, negatives and dimensions": drawn(4, 4, 4),
        "one pair, three negatives": drawn(1, 3, 2),
        "all scores are negative": (-ones, drawn(2, 1, 4)[1].abs(), drawn(2, 3, 4)[2].abs()),
        "scores in the hundreds": (
            10 * ones, torch.tensor([[30.0, -1, 0, 1], [-30.0, 1, 0, -1]]), torch.tensor(
                [[[25.0, 0, 1, 0], [-20.0, 0, 0, 1], [1.0, 1, 1, 1]], [[0.0, -25, 0, 1], [22.0, 0, 2, 1], [2.0] * 4]])),
    }


def between(loss: Tensor, word: Tensor, context: Tensor, negatives: Tensor) -> bool:
    """Whether a loss of 02.4 lies within its bounds: at least the sum of max(0, −x) over the signed scores x,
    and at most log 2 more per score."""
    positive, negative = (word * context).sum(-1), (word[:, None] * negatives).sum(-1)
    least = ((-positive).clamp(min=0) + negative.clamp(min=0).sum(-1)).mean()
    slack = 1e-3 * (1 + least)
    return bool(least - slack <= loss <= least + (1 + negative.shape[1]) * log(2) + slack)


def analogy(vectors: Float[Tensor, "vocab model"], a: int, b: int, c: int) -> int:
    """Solve the analogy "a is to b as c is to …": return the row of the fourth word.

    ``a``, ``b`` and ``c`` are the rows of three words in ``vectors``. First normalize every vector to length
    1. Then the answer is the row with the highest cosine with b − a + c, excluding the three words
    themselves.
    """
    units = torch.nn.functional.normalize(vectors)
    scores = units @ (units[b] - units[a] + units[c])
    scores[[a, b, c]] = -torch.inf
    return int(scores.argmax())


def draw_analogies(rng: Generator) -> Probes:
    """Inputs for 02.5: name → (vectors, a, b, c)."""
    def drawn(vocab: int, model: int) -> Tensor:
        """Random rows of very different norms."""
        return randn(vocab, model, generator=rng) * randn(vocab, 1, generator=rng).exp()

    away = drawn(9, 4)
    units = torch.nn.functional.normalize(away)
    away *= -(units @ (units[1] - units[5] + units[3]))[:, None].sign()
    away[[5, 1, 3]] = units[[5, 1, 3]]
    close = torch.tensor([[1.0, 9], [1.0, 0], [10.0, -1], [1.0, 2], [-2.0, 1], [4.0, 2], [0.5, -2], [-1, -1]])
    return {
        "man, woman, king, and queen":
            (torch.tensor([[1.0, 0, 1], [1, 0, -1], [0, 2, 1], [0, 2, -1.2], [3, 1, 3], [-1, 0, -2]]), 0, 1, 2),
        "long vectors and short ones": (drawn(12, 5), 4, 9, 2),
        "all other cosines are below 0": (away, 5, 1, 3),
        "the three are close together": (close, 1, 2, 5),
        "four words": (drawn(4, 6), 3, 0, 2),
        "many words, few dimensions": (drawn(60, 3), 41, 7, 22),
        "more words, two dimensions": (drawn(80, 2), 5, 62, 33),
    }


def shifted_pmi(
    counts: Float[Tensor, "word context"], k: int, power: float = 0.75,
) -> Float[Tensor, "word context"]:
    """The optimum of skip-gram with k negative samples: shifted PMI (Levy and Goldberg 2014).

    ``counts`` is how often each word co-occurs with each context. The result for each pair is log(P(w, c) /
    (P(w) · Q(c))) − log k, with the natural logarithm. P(w, c) is the pair's fraction of all counts, P(w)
    that of its whole row. Q(c) is the noise distribution: the column sums raised to ``power``, normalized to
    sum to 1. The result for a pair with a count of 0 is −∞, even if all counts of its word or of its context
    are 0.
    """
    words = counts.sum(1, keepdim=True) / counts.sum()
    contexts = counts.sum(0) ** power
    ratio = counts / counts.sum() / (words * contexts / contexts.sum())
    return (ratio / k).log().masked_fill(counts == 0, -torch.inf)


def draw_tables(rng: Generator) -> Probes:
    """Inputs for 02.6: name → (counts, number of negative samples, power)."""
    def drawn(*shape: int, most: int = 9) -> Tensor:
        return randint(1, most + 1, shape, generator=rng).float()

    absent = drawn(4, 5)
    absent[2], absent[:, 1] = 0, 0
    return {
        "two words, two contexts": (torch.tensor([[4.0, 1.0], [2.0, 3.0]]), 2, 0.75),
        "three words, four contexts": (drawn(3, 4), 5, 0.75),
        "the same number of words and contexts": (drawn(3, 3, most=40), 3, 0.75),
        "one negative, the power 1": (drawn(2, 5), 1, 1.0),
        "pairs that never occur": (torch.tensor([[5.0, 0, 1], [0, 2, 2], [3, 1, 0], [0, 0, 7]]), 2, 0.75),
        "a word and a context that never occur": (absent, 4, 0.75),
    }


EXERCISES = (
    Exercise(
        "02.1", "pairs from a window", window_pairs, draw_sentences,
        mistakes={
            "the word is paired with itself; leave out its own position": edit("0 < abs", "abs"),
            "only the right context is used; a window covers both sides": edit("abs(i - j)", "j - i"),
            "a negative index counts from the end, so that words[-1] is the last word: clip the window to the sentence":
                edit("for j in positions if 0 < abs(i - j) <= reach[i]",
                         "for j in range(i - reach[i], i + reach[i] + 1) if j != i and j < len(words)"),
            "a slice with a negative start, words[i - r:i], counts from the end and is empty: start at max(0, i - r)":
                edit("for j in positions if 0 < abs(i - j) <= reach[i]",
                     "for j in [*positions[i - reach[i]:i], *positions[i + 1:i + reach[i] + 1]]"),
            "the last word on the right is missing: range(i - r, i + r) ends before i + r":
                edit("0 < abs(i - j) <= reach[i]", "i != j and -reach[i] <= j - i < reach[i]"),
            "the words at a distance of exactly reach[i] are missing: use <=, not <": edit("<=", "<"),
            "the columns are swapped: the word comes first, then its context word":
                edit("(words[i], words[j])", "(words[j], words[i])"),
            "this is the window size of the other position, j; use that of position i": edit("reach[i]", "reach[j]"),
            "equal words are left out; only the positions must differ, and a word may occur in its own context":
                edit("0 < abs(i - j) <= reach[i]", "words[i] != words[j] and abs(i - j) <= reach[i]"),
            ".index returns the first position of a word; its second occurrence has another window: loop over "
            "positions": edit("if 0", "for first in [words.index(words[i])] if 0",
                           "abs(i - j) <= reach[i]", "abs(first - j) <= reach[first]"),
        },
        properties={
            "a row holds a word that is not in the sentence":
                lambda out, words, reach: set(out.flatten().tolist()) <= {*words},
        },
        hints=(
            "Take the sentence [5, 8, 5] and the window sizes [1, 2, 1]. Which positions are in the windows of "
            "positions 0, 1 and 2? How many rows is that? Can 5 be paired with 5?",
            "For every two positions i and j: are they different, and is j in the window of i? Work with positions, "
            "not words, because a word may occur at two of them. Look up the words only at the very end.",
            "Two loops over range(len(words)), and abs(i - j) is the distance. Or range(max(0, i - r), "
            "min(len(words), i + r + 1)), which is clipped to the sentence. torch.tensor converts a list of pairs to "
            "a matrix.",
        ),
    ),
    Exercise(
        "02.2", "the hidden vector of CBOW", cbow_hidden, draw_contexts,
        mistakes={
            "the vectors are summed, not averaged; divide by the number of words":
                edit(" / is_word.sum(1).clamp(min=1)", ""),
            "padding is included in the count: divide by the number of words, not of positions":
                edit("is_word.sum(1).clamp(min=1)", "is_word.shape[1]"),
            "the padding vector is included in the mean as if it were a word's (padding_idx only excludes it from "
            "training)": edit(" * is_word).sum(1) / is_word.sum(1).clamp(min=1)", ").mean(1)"),
            "the padding vector is included in the sum, although the sum is divided by the number of words":
                edit(" * is_word", ""),
            "0 divided by 0 is NaN: a row that is all padding must give zeros": edit(".clamp(min=1)", ""),
            "the sums are divided by the number of words in the whole batch; use that of each row":
                edit("is_word.sum(1).clamp(min=1)", "is_word.sum()"),
            "0 is used as the padding id; it is `pad`": edit("!= pad", "!= 0"),
            "a zero vector is treated as padding, but it may be a word's: compare the ids with `pad`":
                edit("(contexts != pad)", "vectors[contexts].any(-1)"),
            "padding is assumed to follow the words; it may occur in any position":
                edit("(contexts != pad)[", "(torch.arange(contexts.shape[1]) < (contexts != pad).sum(1)[:, None])["),
            "the mask is inverted: this is the mean of the padding": edit("!=", "=="),
        },
        properties={
            "an entry is larger than that of every context word, which is impossible for a mean":
                lambda out, *args: bool((out <= largest(*args) + 1e-4).all()),
        },
        hints=(
            "A row holds two words and two positions of padding. Which vectors are summed, and what is the sum "
            "divided by? And in a row with no word at all?",
            "Make a mask that marks the positions of words. It has two uses: it sets the padding vectors to 0 before "
            "the sum, and its own sum is the number of words per row.",
            "vectors[contexts] is [batch positions model]. (contexts != pad)[..., None] is [batch positions 1] and "
            "broadcasts to it. .sum(1) sums over the positions; .clamp(min=1) is a lower bound of 1.",
        ),
    ),
    Exercise(
        "02.3", "the noise distribution", noise_distribution, draw_counts,
        mistakes={
            "the power has no effect: these are the plain frequencies (counts * power is not a power, and the factor "
            "cancels)": edit(" ** power", ""),
            "these are powers, which do not sum to 1: divide by their sum": edit(" / powers.sum()", ""),
            "the frequencies are raised after normalization, so that they no longer sum to 1: divide by the sum at "
            "the end": edit("powers / powers.sum()", "(counts / counts.sum()) ** power"),
            "the powers are divided by the sum of the counts; divide by the sum of the powers":
                edit("powers.sum()", "counts.sum()"),
            "the frequencies are multiplied by the power: exponentiation is **, not *":
                edit("powers / powers.sum()", "counts / counts.sum() * power"),
            "** binds tighter than /: counts ** 3 / 4 is a quarter of the cube; use the given power":
                edit("** power", "** 3 / 4"),
            "the power is always 3/4; use the given power": edit("** power", "** 0.75"),
            "the power is inverted, 4/3 instead of 3/4: rare words become rarer": edit("** power", "** (1 / power)"),
            "all words have the same probability: is the power 0? 3 // 4 is 0": edit("** power", "** (3 // 4)"),
            "this is a softmax of the powers; divide them by their sum":
                edit("powers / powers.sum()", "powers.softmax(0)"),
        },
        properties={
            "a probability is outside 0 … 1": lambda out, *_: bool(((out >= 0) & (out <= 1 + 1e-4)).all()),
            "the probabilities do not sum to 1": lambda out, *_: abs(float(out.sum()) - 1) < 1e-3,
            "a word that never occurs has a probability above 0":
                lambda out, counts, _: bool((out[counts == 0].abs() < 1e-6).all()),
        },
        hints=(
            "One word occurs once, another 16 times. What are 1 and 16 raised to 3/4? What is the probability of each "
            "word?",
            "First raise every count, then divide by a sum. Which sum is it, if the probabilities are to sum to 1?",
            "x ** p raises each entry of a tensor to the power p; x.sum() is the sum of all entries.",
        ),
    ),
    Exercise(
        "02.4", "the loss of negative sampling", negative_sampling_loss, draw_negatives,
        mistakes={
            "the loss of the negatives is averaged over k; sum it": edit("-negative).sum", "-negative).mean"),
            "this is the mean over all pairs and negatives, batch · (1 + k) of them; divide by the batch size only":
                edit("mean()", "sum() / (positive.numel() + negative.numel())"),
            "this is the sum over the batch; return the mean": edit("mean", "sum"),
            "the negatives are treated as positive: their score needs a minus sign, σ(−w·n)":
                edit("-negative", "negative"),
            "the sigmoid of a large negative score is 0 in float32, and log 0 is −∞: use "
            "torch.nn.functional.logsigmoid":
                edit("torch.nn.functional.logsigmoid", "lambda scores: scores.sigmoid().log()"),
            "binary_cross_entropy clamps every logarithm at −100; binary_cross_entropy_with_logits takes the scores "
            "themselves and is numerically stable":
                edit("log_sigmoid(positive)", "positive.sigmoid().log().clamp(min=-100)",
                     "log_sigmoid(-negative)", "(1 - negative.sigmoid()).log().clamp(min=-100)"),
            "the sigmoid is applied twice: logsigmoid already applies it":
                edit("(positive)", "(positive.sigmoid())", "(-negative)", "(-negative.sigmoid())"),
            "this is a softmax over the context and the negatives; apply a sigmoid to each score separately":
                edit("log_sigmoid(positive) + log_sigmoid(-negative).sum(-1)",
                     "torch.cat([positive[:, None], negative], 1).log_softmax(1)[:, 0]"),
            "each word is scored with the context of every pair, as w @ c.T does; use its own only":
                edit("(word * context).sum(-1)", "word @ context.T"),
            "the scores of the negatives are summed before the sigmoid; apply it to each separately":
                edit("(-negative).sum(-1)", "(-negative.sum(-1))"),
        },
        properties={
            "−log σ(x) is between max(0, −x) and max(0, −x) + log 2; your loss is not. Is a constant added inside the "
            "logarithm, or a sigmoid clamped?": between,
        },
        hints=(
            "A batch has 3 pairs, with 2 negatives each. How many scores are there, and how many of them have a low "
            "loss if they are large? By which number is the sum divided?",
            "Compute two tensors of scores: [batch] for the pairs, [batch negative] for each word's own negatives. "
            "The second gets a minus sign. Sum the losses over the negatives and take the mean over the batch.",
            "(a * b).sum(-1) is the dot product of rows. word[:, None] is [batch 1 model] and broadcasts to the "
            "negatives. torch.nn.functional.logsigmoid computes log σ without underflow.",
        ),
    ),
    Exercise(
        "02.5", "an analogy", analogy, draw_analogies,
        mistakes={
            "the three words are not excluded; b or c itself is often the nearest":
                edit("    scores[[a, b, c]] = -torch.inf\n", ""),
            "only c is excluded; exclude a and b, too": edit("[[a, b, c]]", "[c]"),
            "the three words get the score 0, which is the highest if all others are negative: set it to −∞":
                edit("-torch.inf", "0"),
            "a maximum that starts at 0 finds no row if all cosines are negative: start at −∞":
                edit("int(scores.argmax())", "int(scores.argmax()) if scores.max() > 0 else None"),
            "the vectors are not normalized to length 1; dot products favour long vectors":
                edit("torch.nn.functional.normalize(vectors)", "vectors"),
            "b − a + c is computed from the raw vectors; normalize all to length 1 first":
                edit("(units[b] - units[a] + units[c])", "(vectors[b] - vectors[a] + vectors[c])"),
            "b − a + c is computed from normalized vectors, but compared with the raw rows":
                edit("units @", "vectors @"),
            "the columns are normalized; a word's vector is a row":
                edit("normalize(vectors)", "normalize(vectors, dim=0)"),
            "the signs of a and b are swapped: this is a − b + c": edit("units[b] - units[a]", "units[a] - units[b]"),
            "this is the row in a matrix without the three words; return the row in `vectors`":
                edit("scores[[a, b, c]] = -torch.inf",
                     "scores = scores[[row for row in range(len(units)) if row not in (a, b, c)]]"),
        },
        hints=(
            "Which vector do you add to man to get woman? Add the same vector to king. Which word is nearest to the "
            "result: queen, or perhaps king itself?",
            "If all rows have length 1, a dot product with b − a + c is the cosine up to a factor that is the same "
            "for all rows. So the maximum is at the same row. Three rows must never win, even if all scores are "
            "negative.",
            "torch.nn.functional.normalize(x) normalizes rows to length 1. matrix @ vector is one dot product per "
            "row. -torch.inf is smaller than any number; .argmax() is the index of the largest.",
        ),
    ),
    Exercise(
        "02.6", "the shifted PMI", shifted_pmi, draw_tables,
        mistakes={
            "the shift is missing: this is the PMI, without − log k": edit("ratio / k", "ratio"),
            "the shift has the wrong sign: it is − log k": edit("ratio / k", "ratio * k"),
            "a / b * c is (a / b) · c: put P(w) · Q(c) in parentheses":
                edit("(words * contexts / contexts.sum())", "words * contexts / contexts.sum()"),
            "negative entries are set to 0 after the shift; that is another matrix, shifted positive PMI":
                edit("-torch.inf)", "0).clamp(min=0)"),
            "the entry of a pair that never occurs is 0, as if word and context were independent; it must be −∞":
                edit("-torch.inf", "0"),
            "0 divided by 0 is NaN: if a word or a context never occurs, the entry is −∞":
                edit(".masked_fill(counts == 0, -torch.inf)", ""),
            ".nan_to_num also replaces −∞ by the smallest float, unless neginf is given":
                edit("masked_fill(counts == 0, -torch.inf)", "nan_to_num()"),
            "the power is missing: these are the plain frequencies of the contexts": edit(" ** power", ""),
            "the context probabilities are raised to the power, and no longer sum to 1: divide by their sum at the end":
                edit("counts.sum(0) ** power", "(counts.sum(0) / counts.sum()) ** power", " / contexts.sum()", ""),
            "the word probabilities are along the context axis: .sum(1) needs keepdim=True": edit(", keepdim=True", ""),
        },
        properties={
            "an entry is above −log Q(c) − log k, as if a pair occurred more often than its word":
                lambda out, counts, k, power: bool(
                    (out <= -((powers := counts.sum(0) ** power) / powers.sum()).log() - log(k) + 1e-3).all()),
        },
        hints=(
            "If a word and a context were independent, how often would the pair occur? What is the logarithm of the "
            "ratio then, and what if the pair occurs twice as often as that? Where does 0 / 0 arise?",
            "There are three fractions: of the pair, of the row, of the column. Only the column sum is raised, before "
            "it is divided by the sum of all such powers. At the end, set the result to −∞ where the count is 0.",
            "counts.sum(1, keepdim=True) is a column of row sums, counts.sum(0) a row of column sums. log(x) − log k "
            "is log(x / k). .masked_fill(counts == 0, …) writes a value where the mask is True.",
        ),
    ),
)
