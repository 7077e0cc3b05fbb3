"""Exercises of chapter 02: word vectors, from skip-gram pairs to the optimum of negative sampling."""

from math import log

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, randint, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def window_pairs(words: list[int], reach: list[int]) -> Int[Tensor, "pair 2"]:
    """The pairs that skip-gram learns from a sentence: a word, and a word near it.

    ``words`` are the ids of the sentence's words, two or more. The window of place i has a reach of
    its own, reach[i], at least 1: near are all other places that are at most so far away, to the
    left and to the right, and no further than the sentence goes. Each row of the answer is the
    word at place i, then the word at a place j near it. Rows come in the order of i, and for the
    same i in the order of j.
    """
    places = range(len(words))
    return torch.tensor([(words[i], words[j]) for i in places for j in places if 0 < abs(i - j) <= reach[i]])


def draw_sentences(rng: Generator) -> Probes:
    """Inputs for 02.1: name → (words, the window size at each word)."""
    def drawn(least: int, most: int) -> list[int]:
        return randint(least, most + 1, (9,), generator=rng).tolist()

    return {
        "two words": ([7, 4], [1, 2]),
        "five words, each with its own reach": ([3, 8, 5, 9, 6], [2, 1, 3, 1, 2]),
        "words that come twice": ([5, 8, 5, 5, 2, 8], [3, 1, 2, 1, 4, 2]),
        "a reach beyond both ends": ([4, 9, 6], [3, 2, 3]),
        "nine words": (drawn(10, 19), drawn(1, 5)),
    }


def cbow_hidden(
    contexts: Int[Tensor, "batch positions"], vectors: Float[Tensor, "vocab model"], pad: int,
) -> Float[Tensor, "batch model"]:
    """What CBOW guesses a word from: the mean of the vectors of the words near it.

    Each row of ``contexts`` holds the ids of the words near one word. Row i of ``vectors`` is the
    vector of the word with the id i. At the ends of a sentence there are fewer words near, and the
    positions that are left hold the id ``pad``. Padding may stand in any position, and counts for nothing.
    A row of nothing but padding gives zeros.
    """
    here = (contexts != pad)[..., None]
    return (vectors[contexts] * here).sum(1) / here.sum(1).clamp(min=1)


def draw_contexts(rng: Generator) -> Probes:
    """Inputs for 02.2: name → (contexts, vectors, the padding id)."""
    def near(rows: list[list[int]], pad: int, vocab: int, model: int) -> tuple[Tensor, Tensor, int]:
        return torch.tensor(rows), randn(vocab, model, generator=rng), pad

    contexts, zeros, pad = near([[1, 2, 0], [2, 3, 1]], 0, 4, 2)
    zeros[[0, 2]] = 0
    return {
        "two words and a position of padding":
            (torch.tensor([[1, 2, 0]]), torch.tensor([[3.0, -1.0], [2.0, 4.0], [-1.0, 1.0]]), 0),
        "padding in any position": near([[3, 0, 5, 1], [0, 0, 2, 4], [1, 2, 3, 4]], 0, 6, 5),
        "another id for padding": near([[0, 4, 2], [4, 1, 0]], 4, 5, 4),
        "a row of nothing but padding": near([[2, 1], [3, 3]], 3, 4, 3),
        "as many rows as positions and numbers": near([[1, 0, 4], [2, 3, 1], [0, 0, 2]], 0, 5, 3),
        "a word that comes twice, all numbers below 0":
            (torch.tensor([[2, 2, 3, 0]]), -1 - randn(4, 3, generator=rng).abs(), 0),
        "a vector of zeros for padding, and one for a word": (contexts, zeros, pad),
    }


def largest(contexts: Tensor, vectors: Tensor, pad: int) -> Tensor:
    """Element-wise maximum over the context vectors of each row of 02.2; 0 for a row without words."""
    words = (contexts != pad)[..., None]
    return vectors[contexts].masked_fill(~words, -torch.inf).amax(1).masked_fill(~words.any(1), 0)


def noise(counts: Float[Tensor, "vocab"], power: float = 0.75) -> Float[Tensor, "vocab"]:
    """How likely each word is to be drawn as a negative (Mikolov et al. 2013b).

    ``counts`` says how often each word comes in the text. A word's chance is in proportion to its
    count, raised to ``power``, which is above 0. All chances add up to 1. A word that never comes is
    never drawn.
    """
    raised = counts ** power
    return raised / raised.sum()


def draw_counts(_: Generator) -> Probes:
    """Inputs for 02.3: name → (counts, power)."""
    return {
        "two words, one sixteen times as often": (torch.tensor([1.0, 16]), 0.75),
        "a word that never comes": (torch.tensor([81.0, 0, 16, 1]), 0.75),
        "the root, for a power": (torch.tensor([4.0, 9, 1, 25, 2]), 0.5),
        "from a thousand times to once": (torch.tensor([1000.0, 480, 333, 70, 7, 3, 1]), 0.75),
        "a single word": (torch.tensor([12.0]), 0.75),
    }


def negative_sampling_loss(
    word: Float[Tensor, "batch model"], context: Float[Tensor, "batch model"],
    negatives: Float[Tensor, "batch negative model"],
) -> Float[Tensor, ""]:
    """The loss of skip-gram with negative sampling, in nats (Mikolov et al. 2013b).

    Row i of ``word`` is a word's vector w, row i of ``context`` that of a word near it, c. In
    negatives[i] stand the vectors n of k words that were drawn for this pair. A score is a dot
    product. The loss of a pair is −log σ(w·c), and for each of its negatives −log σ(−w·n) on top,
    where σ(x) = 1 / (1 + e^−x). Give the mean over the batch. Scores of 300 and −300 must do no
    harm.
    """
    log_sigmoid = torch.nn.functional.logsigmoid
    near, far = (word * context).sum(-1), (word[:, None] * negatives).sum(-1)
    return -(log_sigmoid(near) + log_sigmoid(-far).sum(-1)).mean()


def draw_negatives(rng: Generator) -> Probes:
    """Inputs for 02.4: name → (word, context, negatives)."""
    def drawn(batch: int, negatives: int, model: int, scale: float = 1.0) -> tuple[Tensor, ...]:
        return (randn(batch, model, generator=rng), scale * randn(batch, model, generator=rng),
                scale * randn(batch, negatives, model, generator=rng))

    ones = torch.ones(2, 4)
    return {
        "one pair, one negative, one number": (torch.tensor([[2.0]]), torch.tensor([[0.5]]), torch.tensor([[[-1.5]]])),
        "three pairs, two negatives, five numbers": drawn(3, 2, 5),
        "as many pairs as negatives and numbers": drawn(4, 4, 4),
        "one pair, three negatives": drawn(1, 3, 2),
        "all scores are below 0": (-ones, drawn(2, 1, 4)[1].abs(), drawn(2, 3, 4)[2].abs()),
        "scores in the hundreds": (
            10 * ones, torch.tensor([[30.0, -1, 0, 1], [-30.0, 1, 0, -1]]), torch.tensor(
                [[[25.0, 0, 1, 0], [-20.0, 0, 0, 1], [1.0, 1, 1, 1]], [[0.0, -25, 0, 1], [22.0, 0, 2, 1], [2.0] * 4]])),
    }


def between(loss: Tensor, word: Tensor, context: Tensor, negatives: Tensor) -> bool:
    """Whether a loss of 02.4 lies within its bounds: at least the sum of max(0, −x) over the signed scores x,
    and at most log 2 more per score."""
    near, far = (word * context).sum(-1), (word[:, None] * negatives).sum(-1)
    least = ((-near).clamp(min=0) + far.clamp(min=0).sum(-1)).mean()
    slack = 1e-3 * (1 + least)
    return bool(least - slack <= loss <= least + (1 + far.shape[1]) * log(2) + slack)


def analogy(vectors: Float[Tensor, "vocab model"], a: int, b: int, c: int) -> int:
    """The word that ends an analogy, "a is to b as c is to …": its row.

    ``a``, ``b`` and ``c`` are the rows of three words in ``vectors``. First bring every vector to
    length 1. Then the answer is the row with the largest cosine to b − a + c, where the three words
    themselves are left out.
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
        "the three lie close together": (close, 1, 2, 5),
        "four words": (drawn(4, 6), 3, 0, 2),
        "many words, few numbers": (drawn(60, 3), 41, 7, 22),
        "more words, two numbers": (drawn(80, 2), 5, 62, 33),
    }


def shifted_pmi(
    counts: Float[Tensor, "word context"], k: int, power: float = 0.75,
) -> Float[Tensor, "word context"]:
    """What skip-gram with k negatives finds where its loss is lowest (Levy and Goldberg 2014).

    ``counts`` says how often each word comes with each context. The answer has for each pair
    log(P(w, c) / (P(w) · Q(c))) − log k, with the natural logarithm. P(w, c) is the pair's share of
    all counts, P(w) the share of its whole row. Q(c) is the noise: the sums of the columns, raised
    to ``power``, then divided so that they add up to 1. A pair that never comes has −∞, also where
    its word or its context never comes at all.
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
        "as many words as contexts": (drawn(3, 3, most=40), 3, 0.75),
        "one negative, the power 1": (drawn(2, 5), 1, 1.0),
        "pairs that never come": (torch.tensor([[5.0, 0, 1], [0, 2, 2], [3, 1, 0], [0, 0, 7]]), 2, 0.75),
        "a word and a context that never come": (absent, 4, 0.75),
    }


EXERCISES = (
    Exercise(
        "02.1", "the pairs of skip-gram", window_pairs, draw_sentences,
        mistakes={
            "the word is paired with itself; its own place is left out": edit("0 < abs", "abs"),
            "only the words to the right are taken; a window goes to both sides": edit("abs(i - j)", "j - i"),
            "a place below 0 counts from the end, so that words[-1] is the last word: a window ends where the sentence "
            "does": edit("for j in places if 0 < abs(i - j) <= reach[i]",
                         "for j in range(i - reach[i], i + reach[i] + 1) if j != i and j < len(words)"),
            "a slice that begins below 0, words[i - r:i], counts from the end and is empty: begin at max(0, i - r)":
                edit("for j in places if 0 < abs(i - j) <= reach[i]",
                     "for j in [*places[i - reach[i]:i], *places[i + 1:i + reach[i] + 1]]"),
            "the last word on the right is missing: range(i - r, i + r) ends before i + r":
                edit("0 < abs(i - j) <= reach[i]", "i != j and -reach[i] <= j - i < reach[i]"),
            "the words that are just reach[i] away are missing: it is <=, not <": edit("<=", "<"),
            "the columns have changed places: the word comes first, then the word near it":
                edit("(words[i], words[j])", "(words[j], words[i])"),
            "this is the reach of the other place, j; the window is that of place i": edit("reach[i]", "reach[j]"),
            "equal words are left out; it is the place that must differ, and a word may stand near itself":
                edit("0 < abs(i - j) <= reach[i]", "words[i] != words[j] and abs(i - j) <= reach[i]"),
            ".index gives the first place of a word; where it stands a second time it has another window: count the "
            "places": edit("if 0", "for first in [words.index(words[i])] if 0",
                           "abs(i - j) <= reach[i]", "abs(first - j) <= reach[first]"),
        },
        properties={
            "a row holds a word that is not in the sentence":
                lambda out, words, reach: set(out.flatten().tolist()) <= {*words},
        },
        hints=(
            "Take the sentence [5, 8, 5] and the reach [1, 2, 1]. Which places are near place 0, near place 1, near "
            "place 2? How many rows is that? May 5 be paired with 5?",
            "Ask every two places i and j: are they different, and is j near enough to i? Think in places, not in "
            "words, for a word may stand at two of them. A row is made of words only at the very end.",
            "Two loops over range(len(words)), and abs(i - j) is the distance. Or range(max(0, i - r), "
            "min(len(words), i + r + 1)), which ends where the sentence does. torch.tensor makes a table of a list of "
            "pairs.",
        ),
    ),
    Exercise(
        "02.2", "what CBOW reads", cbow_hidden, draw_contexts,
        mistakes={
            "these are sums; a sum is divided by the number of words": edit(" / here.sum(1).clamp(min=1)", ""),
            "padding counts in the mean: divide by the number of words, not of positions":
                edit("here.sum(1).clamp(min=1)", "here.shape[1]"),
            "padding's vector is in the mean as if it were a word's (padding_idx only keeps that vector from being "
            "trained)": edit(" * here).sum(1) / here.sum(1).clamp(min=1)", ").mean(1)"),
            "padding's vector is in the sum, though the sum is divided by the number of words": edit(" * here", ""),
            "0 divided by 0 is NaN: a row of nothing but padding gives zeros": edit(".clamp(min=1)", ""),
            "the sums are divided by the number of words in the whole batch; each row has its own":
                edit("here.sum(1).clamp(min=1)", "here.sum()"),
            "padding is taken to be 0; it is `pad`": edit("!= pad", "!= 0"),
            "a vector of zeros is taken for padding; it may be a word's: `pad` says what padding is":
                edit("(contexts != pad)", "vectors[contexts].any(-1)"),
            "padding is taken to stand behind the words; it may stand in any position":
                edit("(contexts != pad)[", "(torch.arange(contexts.shape[1]) < (contexts != pad).sum(1)[:, None])["),
            "the mask stands on its head: this is the mean of the padding": edit("!=", "=="),
        },
        properties={
            "a number is larger than that of every word near: a mean lies between what it is the mean of":
                lambda out, *args: bool((out <= largest(*args) + 1e-4).all()),
        },
        hints=(
            "A row holds two words and two positions of padding. What is added up, and what is the sum divided by? And "
            "in "
            "a row with no word at all?",
            "Make a mask that says which positions hold words. It does two things: it makes 0 of padding's vectors "
            "before "
            "they are added up, and its own sum counts the words of a row.",
            "vectors[contexts] is [batch positions model]. (contexts != pad)[..., None] is [batch positions 1] and "
            "fits to it. "
            ".sum(1) adds up over the positions; .clamp(min=1) keeps a number from being below 1.",
        ),
    ),
    Exercise(
        "02.3", "where negatives come from", noise, draw_counts,
        mistakes={
            "the power does nothing: these are the plain frequencies (counts * power is no power, and its factor "
            "cancels)": edit(" ** power", ""),
            "these are powers, which do not add up to 1: divide by their sum": edit(" / raised.sum()", ""),
            "the frequencies are raised after they were made to add up to 1, and now they do not: divide by the sum at "
            "the end": edit("raised / raised.sum()", "(counts / counts.sum()) ** power"),
            "the powers are divided by the sum of the counts; divide by the sum of the powers":
                edit("raised.sum()", "counts.sum()"),
            "the frequencies are multiplied by the power: ** is the power, * is not":
                edit("raised / raised.sum()", "counts / counts.sum() * power"),
            "** comes before /: counts ** 3 / 4 is the cube, and a quarter of it; use the power that is given":
                edit("** power", "** 3 / 4"),
            "the power is always 3/4; here it is given": edit("** power", "** 0.75"),
            "the power stands on its head, 4/3 for 3/4: rare words become rarer": edit("** power", "** (1 / power)"),
            "all words are equally likely: where did the power go? 3 // 4 is 0": edit("** power", "** (3 // 4)"),
            "this is a softmax of the powers; they are divided by their sum":
                edit("raised / raised.sum()", "raised.softmax(0)"),
        },
        properties={
            "a chance lies beyond 0 and 1": lambda out, *_: bool(((out >= 0) & (out <= 1 + 1e-4)).all()),
            "the chances do not add up to 1": lambda out, *_: abs(float(out.sum()) - 1) < 1e-3,
            "a word that never comes is drawn": lambda out, counts, _: bool((out[counts == 0].abs() < 1e-6).all()),
        },
        hints=(
            "One word comes 1 time, another 16 times. What are 1 and 16, raised to 3/4? So how likely is each?",
            "First raise every count, then divide by a sum. Which sum makes the chances add up to 1?",
            "x ** p raises each number of a tensor; x.sum() adds all of them up.",
        ),
    ),
    Exercise(
        "02.4", "the loss of negative sampling", negative_sampling_loss, draw_negatives,
        mistakes={
            "the negatives' part is averaged over k; it is added up": edit("-far).sum", "-far).mean"),
            "this is the mean over pairs and negatives alike, batch · (1 + k) of them; divide by the batch alone":
                edit("mean()", "sum() / (near.numel() + far.numel())"),
            "the batch is added up; asked is its mean": edit("mean", "sum"),
            "the negatives are drawn near: in their part the score has a minus, σ(−w·n)": edit("-far", "far"),
            "the sigmoid of a score far below 0 is 0 in float32, and log 0 is −∞: torch.nn.functional.logsigmoid keeps "
            "the digits": edit("torch.nn.functional.logsigmoid", "lambda scores: scores.sigmoid().log()"),
            "the function binary_cross_entropy cuts every logarithm off at −100; binary_cross_entropy_with_logits "
            "takes the scores themselves, and keeps the digits":
                edit("log_sigmoid(near)", "near.sigmoid().log().clamp(min=-100)",
                     "log_sigmoid(-far)", "(1 - far.sigmoid()).log().clamp(min=-100)"),
            "the sigmoid is taken twice: logsigmoid takes it already":
                edit("(near)", "(near.sigmoid())", "(-far)", "(-far.sigmoid())"),
            "this is a softmax over the context and the negatives; each score has a sigmoid of its own":
                edit("log_sigmoid(near) + log_sigmoid(-far).sum(-1)",
                     "torch.cat([near[:, None], far], 1).log_softmax(1)[:, 0]"),
            "each word is scored with every pair's context, as w @ c.T does; it has its own":
                edit("(word * context).sum(-1)", "word @ context.T"),
            "the negatives' scores are added before the sigmoid; each has a sigmoid of its own":
                edit("(-far).sum(-1)", "(-far.sum(-1))"),
        },
        properties={
            "−log σ(x) is at least max(0, −x), and at most log 2 more; your loss is not. Is something added inside the "
            "logarithm, or is a sigmoid cut off?": between,
        },
        hints=(
            "A batch has 3 pairs, with 2 negatives each. How many scores are there, and how many of them may be large "
            "without cost? By which number is the sum divided?",
            "Make two tables of scores: [batch] for the pairs, [batch negative] for the negatives, each word with its "
            "own. The second gets a minus. Add up over the negatives, and take the mean over the batch.",
            "(a * b).sum(-1) is the dot product of rows. word[:, None] is [batch 1 model] and fits to the negatives. "
            "log σ in one step keeps the digits: torch.nn.functional.logsigmoid.",
        ),
    ),
    Exercise(
        "02.5", "an analogy", analogy, draw_analogies,
        mistakes={
            "the three words are not left out; b or c itself is often the nearest":
                edit("    scores[[a, b, c]] = -torch.inf\n", ""),
            "only c is left out; a and b are, too": edit("[[a, b, c]]", "[c]"),
            "the three get the score 0, which is the largest where all cosines are below 0: give them −∞":
                edit("-torch.inf", "0"),
            "a maximum that starts at 0 finds nothing where all cosines are below 0: begin with −∞":
                edit("int(scores.argmax())", "int(scores.argmax()) if scores.max() > 0 else None"),
            "the vectors are not brought to length 1; dot products prefer long vectors":
                edit("torch.nn.functional.normalize(vectors)", "vectors"),
            "the sum b − a + c is made of the raw vectors; bring all to length 1 first":
                edit("(units[b] - units[a] + units[c])", "(vectors[b] - vectors[a] + vectors[c])"),
            "the sum is made of vectors of length 1, but the rows that it meets are raw": edit("units @", "vectors @"),
            "the columns are brought to length 1; a word's vector is a row":
                edit("normalize(vectors)", "normalize(vectors, dim=0)"),
            "the signs are wrong: this is a − b + c": edit("units[b] - units[a]", "units[a] - units[b]"),
            "the row is counted in a table from which three rows were taken out; asked is the row in `vectors`":
                edit("scores[[a, b, c]] = -torch.inf",
                     "scores = scores[[row for row in range(len(units)) if row not in (a, b, c)]]"),
        },
        hints=(
            "What do you add to the vector of man to come to woman? Add the same to king. Which word lies nearest to "
            "the place where you are now: queen, or perhaps king itself?",
            "After all rows have length 1, a dot product with b − a + c is the cosine but for one factor, the same for "
            "all rows. So the row with the largest one is the same. Three rows must never win, even where all are "
            "below 0.",
            "torch.nn.functional.normalize(x) brings rows to length 1. matrix @ vector is a dot product a row. "
            "-torch.inf is smaller than any number; .argmax() is the place of the largest.",
        ),
    ),
    Exercise(
        "02.6", "what negative sampling finds", shifted_pmi, draw_tables,
        mistakes={
            "the shift is missing: this is the PMI, without − log k": edit("ratio / k", "ratio"),
            "the shift has the wrong sign: it is − log k": edit("ratio / k", "ratio * k"),
            "a / b * c is (a / b) · c: put P(w) · Q(c) in parentheses":
                edit("(words * contexts / contexts.sum())", "words * contexts / contexts.sum()"),
            "what is below 0 is made 0, after the shift; that is another matrix, the positive one":
                edit("-torch.inf)", "0).clamp(min=0)"),
            "a pair that never comes has 0, as if it came as often as by chance; it has −∞": edit("-torch.inf", "0"),
            "0 divided by 0 is NaN: where a word or a context never comes there is −∞":
                edit(".masked_fill(counts == 0, -torch.inf)", ""),
            ".nan_to_num makes the smallest number of −∞, too, unless neginf says otherwise":
                edit("masked_fill(counts == 0, -torch.inf)", "nan_to_num()"),
            "the power is missing: these are the contexts' plain frequencies": edit(" ** power", ""),
            "the contexts' chances are raised and do not add up to 1 any more: divide by their sum at the end":
                edit("counts.sum(0) ** power", "(counts.sum(0) / counts.sum()) ** power", " / contexts.sum()", ""),
            "the words' chances lie along the contexts: .sum(1) needs keepdim=True": edit(", keepdim=True", ""),
        },
        properties={
            "a number is above −log Q(c) − log k: as if a pair came more often than its word does":
                lambda out, counts, k, power: bool(
                    (out <= -((raised := counts.sum(0) ** power) / raised.sum()).log() - log(k) + 1e-3).all()),
        },
        hints=(
            "If a word and a context knew nothing of each other, how often would the pair come? What is the logarithm "
            "of the ratio then, and what if the pair comes twice as often? Where does 0 / 0 come up?",
            "Three shares: of the pair, of the row, of the column. Only the column's sum is raised, before it is "
            "divided by the sum of all such powers. At the end, write −∞ where the count is 0.",
            "counts.sum(1, keepdim=True) is a column of the rows' sums, counts.sum(0) a row of the columns' sums. "
            "log(x) − log k is log(x / k). .masked_fill(counts == 0, …) writes one number where the mask is True.",
        ),
    ),
)
