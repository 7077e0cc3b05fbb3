"""Exercises of chapter 08: BERT (Devlin et al. 2019), from its input to what its attention heads attend to."""

from math import log

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, rand, randint, randn
from torch.nn import functional as F

from plmlab.example import IGNORE
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes
from plmlab.exercises.mistakes import within

Numbers = list[int | float]


def corrupt(
    tokens: Int[Tensor, "time"], selected: Bool[Tensor, "time"], dice: Float[Tensor, "time"],
    random_words: Int[Tensor, "time"], mask: int,
) -> tuple[Int[Tensor, "time"], Int[Tensor, "time"]]:
    """BERT's corrupted input for one text, and the targets.

    ``dice``, in [0, 1), decides what replaces a selected token: below 0.8 the id ``mask``, from 0.8 to
    below 0.9 the token in ``random_words``, from 0.9 the token itself. In every case the target is the
    original token. An unselected position keeps its token and has the target −100.
    """
    masked = selected & (dice < 0.8)
    swapped = selected & ~masked & (dice < 0.9)
    corrupted = torch.where(swapped, random_words, tokens).masked_fill(masked, mask)
    return corrupted, tokens.masked_fill(~selected, -100)


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 08.1: name → (tokens, selected, dice, random words, id of [MASK])."""
    def text(time: int, mask: int, share: float = 0.5) -> tuple[Tensor, Tensor, Tensor, Tensor, int]:
        return (randint(5, 60, (time,), generator=rng), rand(time, generator=rng) < share, rand(time, generator=rng),
                randint(5, 60, (time,), generator=rng), mask)

    dice, selected = torch.tensor([0.1, 0.85, 0.95, 0.5, 0.97]), torch.tensor([True, True, True, False, False])
    return {
        "five tokens, three selected": (torch.arange(11, 16), selected, dice, torch.arange(21, 26), 4),
        "sixty tokens": text(60, 4),
        "another id for [MASK]": text(30, 2),
        "no selected position": text(6, 4, share=0.0),
        "a single token, and dice of exactly 0.8":
            (torch.tensor([9]), torch.tensor([True]), torch.tensor([0.8]), torch.tensor([17]), 4),
    }


def masked_loss(
    hidden: Float[Tensor, "batch time model"], embedding: Float[Tensor, "vocab model"], bias: Float[Tensor, "vocab"],
    targets: Int[Tensor, "batch time"],
) -> Float[Tensor, ""]:
    """The loss of the masked language model over a batch, in nats.

    ``hidden`` holds the last layer's hidden states. The logit of a token at a position is the dot
    product of the hidden state with the token's embedding, plus the token's bias. The loss is the
    mean of −log p(target) over all positions of the batch that have a target; −100 marks no target.
    """
    has_target = targets != -100
    logprobs = (hidden[has_target] @ embedding.T + bias).log_softmax(-1)
    return -logprobs.gather(-1, targets[has_target][:, None]).mean()


def draw_batches(rng: Generator) -> Probes:
    """Inputs for 08.2: name → (hidden [batch time model], embedding, bias, targets), with few targets per text."""
    def batch(size: int, time: int, model: int, vocab: int, scale: float = 1.0) -> tuple[Tensor, ...]:
        targets = torch.full((size, time), -100)
        for text, row in enumerate(targets):
            row[text:2 * text + 1] = randint(1, vocab, (text + 1,), generator=rng)
        targets[-1, -1] = 0
        return (scale * randn(size, time, model, generator=rng), randn(vocab, model, generator=rng),
                randn(vocab, generator=rng), targets)

    vectors = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]])
    return {
        "one text, two targets": (vectors, torch.eye(2), torch.tensor([0.5, 0.0]), torch.tensor([[-100, 0, 1]])),
        "texts with one, two and four targets": batch(3, 6, 4, 9),
        "texts with one and three targets": batch(2, 5, 6, 7),
        "logits in the hundreds": batch(2, 5, 8, 6, scale=100.0),
        "all logits far below 0": (*batch(2, 4, 3, 7)[:2], randn(7, generator=rng) - 150,
                                   torch.tensor([[-100, 6, 0, 3], [2, -100, -100, -100]])),
        "a single position": (randn(1, 1, 5, generator=rng), randn(4, 5, generator=rng), randn(4, generator=rng),
                              torch.tensor([[3]])),
    }


def losses(hidden: Tensor, embedding: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """−log p of each target of 08.2, in one row."""
    has_target = targets != IGNORE
    return F.cross_entropy(hidden[has_target] @ embedding.T + bias, targets[has_target], reduction="none")


def embed(
    first: list[int], second: list[int], cls: int, sep: int, E_token: Float[Tensor, "vocab model"],
    E_position: Float[Tensor, "longest model"], E_segment: Float[Tensor, "2 model"],
) -> Float[Tensor, "time model"]:
    """BERT's input embeddings for [CLS] first [SEP] second [SEP], one row per position.

    Each is the sum of a token embedding, a position embedding and a segment embedding, followed by a
    layer normalization. Positions count from 0 to the end. The segment is 0 for [CLS], the first sentence
    and the [SEP] after it, then 1. Normalize each sum to mean 0 and variance 1: add 1e-12 to the
    variance, and divide by the width, not by the width minus one. No scale, no shift.
    """
    tokens = torch.tensor([cls, *first, sep, *second, sep])
    segments = torch.tensor([0] * (len(first) + 2) + [1] * (len(second) + 1))
    added = E_token[tokens] + E_position[:len(tokens)] + E_segment[segments]
    return torch.nn.functional.layer_norm(added, added.shape[-1:], eps=1e-12)


def draw_pairs(rng: Generator) -> Probes:
    """Inputs for 08.3: name → (first, second, ids of [CLS] and [SEP], embedding matrices of tokens, positions and
    segments)."""
    def tables(vocab: int, longest: int, model: int, scale: float = 1.0) -> tuple[Tensor, ...]:
        return tuple(scale * randn(rows, model, generator=rng) for rows in (vocab, longest, 2))

    return {
        "one word and two": ([5], [6, 7], 2, 3, *tables(8, 10, 4)),
        "four words and two": ([9, 7, 8, 5], [11, 6], 3, 4, *tables(12, 16, 6)),
        "small embeddings, as at BERT's initialization": ([5, 9], [7, 8, 6], 2, 3, *tables(10, 12, 8, scale=0.02)),
        "three words and one": ([6, 8, 6], [9], 4, 1, *tables(11, 9, 5)),
    }


def span(
    start: Float[Tensor, "time"], end: Float[Tensor, "time"], first: int, longest: int,
) -> tuple[int, int]:
    """The answer to a question: the positions of its first and its last token, (i, j).

    The answer is the span with the largest start[i] + end[j], where ``start`` and ``end`` are
    logits. It does not end before it starts, has at most ``longest`` tokens, and lies in the passage,
    which begins at position ``first``, after the question. Positions count from [CLS] = 0.
    """
    spans = [(i, j) for i in range(first, len(start)) for j in range(i, min(i + longest, len(end)))]
    i, j = max(spans, key=lambda ends: float(start[ends[0]] + end[ends[1]]))
    return i, j


def draw_questions(rng: Generator) -> Probes:
    """Inputs for 08.4: name → (start logits, end logits, first position of the passage, maximum answer length)."""
    def question(start: Numbers, end: Numbers, first: int, longest: int) -> tuple[Tensor, Tensor, int, int]:
        return torch.tensor(start), torch.tensor(end), first, longest

    return {
        "the most probable end is before the most probable start":
            question([2.0, 6, 0, 0, 1, 3, 4, 0], [0.0, 0, 1, 0, 2, 5, 3, 0], 4, 3),
        "the most probable start and end are far apart":
            question([0.0, 0, 6, 1, 0, 2, 4.5, 0, 0, 0], [0.0, 0, 1, 2, 0, 0, 1, 0, 5, 0.5], 2, 4),
        "a span that is just short enough": question([0.0, 1, 0, 5, 0, 1, 0, 0], [0.0, 0, 0, 0, 1, 4, 4.5, 0], 3, 3),
        "the largest logits are in the question":
            question([0.0, 5, 1, 6, 2, 3, 0, 0], [0.0, 0, 6, 1, 3.5, 2, 1.5, 0], 4, 3),
        "one large start and one large end logit": question([0.0, 8, 0, 5, -6, -5], [0.0, -2, -1, 5, -6, 7], 1, 2),
        "all logits are negative":
            question([-50.0, -71, -66, -64.5, -69, -62, -63], [-50.0, -75, -70, -66, -67, -68, -61], 2, 3),
        "padding at the end": question([1.0, 0, 2, -1, 3, 0.5, -1e4, -1e4], [0.0, 4, 1, 2, -2, 2.5, -1e4, -1e4], 2, 2),
        "twenty positions": (2 * randn(20, generator=rng), 2 * randn(20, generator=rng), 5, 4), }


def filled_with_zero(start: Tensor, end: Tensor, first: int, longest: int) -> tuple[int, int]:
    """A wrong answer to 08.4: the argmax over a table of all sums, with 0 where a span is not allowed."""
    table = (start[first:, None] + end[first:]).triu().tril(longest - 1)
    return first + int(table.argmax()) // len(table), first + int(table.argmax()) % len(table)


def independent_prediction(joint: Float[Tensor, "one other"]) -> tuple[Float[Tensor, "one other"], Float[Tensor, ""]]:
    """The independent prediction of two masked words, and its loss compared with the joint distribution.

    ``joint[a, b]`` is the exact joint probability of the words a and b. The Bayes-optimal predictor
    that predicts each position independently assigns the two marginal probabilities, so the
    probability of a pair is their product. Return the product of the marginals and its KL divergence
    from the joint in nats, KL = Σ joint · ln(joint / product), where a pair with probability 0
    contributes 0.
    """
    product = joint.sum(1, keepdim=True) * joint.sum(0, keepdim=True)
    p, q = joint[joint > 0], product[joint > 0]
    return product, (p * (p / q).log()).sum()


def draw_joints(rng: Generator) -> Probes:
    """Inputs for 08.5: name → (the joint distribution of two words,)."""
    def drawn(*shape: int, never: float = 0.0) -> Tensor:
        weights = rand(*shape, generator=rng) ** 2 * (rand(*shape, generator=rng) >= never)
        return weights / weights.sum()

    return {
        "New York or Los Angeles": (torch.tensor([[0.75, 0.0], [0.0, 0.25]]),),
        "three words and four": (drawn(3, 4),),
        "some pairs have probability 0": (drawn(5, 4, never=0.4),),
        "the two words are independent": (torch.tensor([[0.2], [0.8]]) * torch.tensor([0.5, 0.2, 0.3]),),
        "the first word is certain": (torch.tensor([[0.2, 0.5, 0.3]]),),
        "a word with probability 0": (torch.tensor([[0.1, 0.4, 0.0], [0.3, 0.2, 0.0]]),),
    }


def head_scores(
    weights: Float[Tensor, "text head query key"], special: Bool[Tensor, "text key"], links: Int[Tensor, "link 3"],
) -> Float[Tensor, "head"]:
    """How accurately each attention head captures a relation, such as verb to subject, on gold labels.

    A link (text, from, to) joins two positions of a text. A head is correct if the query at ``from``
    gives ``to`` a larger attention weight than any other position of the text, excluding ``from`` itself and
    the special tokens ([CLS], [SEP], padding: True in ``special``). A head's score is its accuracy:
    the fraction of all links on which it is correct.
    """
    correct = []
    for text, query, key in links.tolist():
        row = weights[text, :, query].masked_fill(special[text], -1)
        row[:, query] = -1
        correct.append(row.argmax(-1) == key)
    return torch.stack(correct).float().mean(0)


def draw_links(rng: Generator) -> Probes:
    """Inputs for 08.6: name → (weights [text head query key], special tokens, links)."""
    def drawn(heads: int, texts: list[str], counts: list[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Texts of words (w) and special tokens ([), with the given number of links in each."""
        special = torch.tensor([[mark == "[" for mark in text] for text in texts])
        links = []
        for text, count in enumerate(counts):
            words = (~special[text]).nonzero()[:, 0]
            links += [[text, *words[torch.randperm(len(words), generator=rng)[:2]].tolist()] for _ in range(count)]
        gold = torch.tensor(links)
        scores = randn(len(texts), heads, *[len(texts[0])] * 2, generator=rng)
        scores[gold[:, 0], :, gold[:, 1], gold[:, 2]] += 1.5
        return (1.5 * scores).softmax(-1), special, gold

    small = torch.tensor([[[[0.2, 0.4, 0.1, 0.3], [0.5, 0.1, 0.1, 0.3], [0.1, 0.5, 0.3, 0.1], [0.4, 0.1, 0.2, 0.3]],
                           [[0.1, 0.1, 0.4, 0.4], [0.1, 0.5, 0.3, 0.1], [0.6, 0.1, 0.1, 0.2], [0.1, 0.2, 0.6, 0.1]]]])
    return {
        "two heads, [CLS] and three words": (small, torch.tensor([[True, False, False, False]]),
                                             torch.tensor([[0, 1, 3], [0, 3, 2], [0, 2, 1]])),
        "a long text and two short ones": drawn(4, ["[wwwwwww[", "[www[[[[[", "[wwwww[[["], [9, 2, 3]),
        "pairs of sentences": drawn(6, ["[ww[www[[[", "[wwww[www["], [3, 10]),
    }


EXERCISES = (
    Exercise(
        "08.1", "the 80/10/10 rule", corrupt, draw_texts,
        mistakes={"only [MASK] positions have a target; every selected position has its original token as its target":
                  edit("~selected, -100", "~masked, -100"),
            "the targets are the corrupted tokens; they should be the original ones":
                  edit("return corrupted, tokens", "return corrupted, corrupted"),
            "unselected positions have the target 0, which is a token id; the target should be −100": edit("-100", "0"),
            "the dice are used at every position; only selected positions may change":
                  edit("selected & (dice < 0.8)", "dice < 0.8", "selected & ~masked", "~masked"),
            "random words and unchanged tokens are swapped": edit("dice < 0.9", "dice >= 0.9"),
            "no selected position keeps its token: from 0.9 on, all are replaced by random words":
                edit(" & (dice < 0.9)", ""),
            "random words overwrite [MASK]: they belong where the dice are from 0.8 to below 0.9, not below 0.8":
                  edit("& ~masked ", "", "tokens).masked_fill(masked, mask)", "tokens.masked_fill(masked, mask))"),
            "a dice value of exactly 0.8 gives [MASK]; [MASK] requires a value below 0.8 (<, not <=)":
                  edit("dice < 0.8", "dice <= 0.8"),
            "every selected position becomes [MASK], whatever the dice": edit("selected & (dice < 0.8)", "selected"), },
        properties={"the token of an unselected position has changed":
                    lambda out, t, s, *_: torch.equal(out[0][~s], t[~s]),
            "an unselected position has a target": lambda out, t, s, *_: bool((out[1][~s] == IGNORE).all()),
            "the target of a selected position is not its original token": lambda out, t, s,
                    *_: torch.equal(out[1][s], t[s]), },
        hints=("Take one selected position whose dice value is 0.95. What is its input, and what is its target? Can "
               "BERT infer from the input that this position was selected?",
            "The input depends on the selection and on the dice; the targets depend on the selection alone. Build one "
            "mask for the [MASK] positions and one for the random words, both subsets of `selected`.",
            "torch.where(mask, this, that) selects element by element, x.masked_fill(mask, number) fills in a "
            "constant, & and ~ combine and invert masks. None of them modifies its arguments.",
        ),
    ),
    Exercise("08.2", "the loss of the masked positions", masked_loss, draw_batches,
             mistakes={
            "the sum is divided by the number of all positions, including those without a target":
                edit("mean()", "sum() / targets.numel()"),
            "the mean is taken per text first, so that a target in a text with few targets has a larger weight":
                edit("-logprobs.gather(-1, targets[has_target][:, None]).mean()",
                     "text_by_text(hidden @ embedding.T + bias, targets)"),
            "the targets are shifted, as in GPT; here each position predicts its own token":
                edit("has_target =", "hidden, targets = hidden[:, :-1], targets[:, 1:]\n    has_target ="),
            "token 0 is left out too: it is an ordinary token id, only −100 marks no target": edit("!= -100", "> 0"),
            "the bias is missing": edit(" + bias", ""),
            "a view to [batch vocab time] mixes positions and tokens: .transpose(1, 2) swaps two axes, .view does not":
                edit("(hidden[has_target] @ embedding.T + bias)",
                     "cut_across(hidden @ embedding.T + bias)[has_target]"),
            "the softmax is applied twice: cross_entropy expects logits and applies the softmax itself":
                edit("log_softmax", "softmax(-1).log_softmax"),
            "the logarithm is missing: this is the mean of −p, not of −log p (nll_loss does not take the logarithm)":
                edit("log_softmax", "softmax"),
            "a probability underflows to 0 and its logarithm is −∞: apply .log_softmax to the logits":
                edit("log_softmax(-1)", "softmax(-1).log()"),
            "a maximum that starts at 0 stays 0 if all logits are negative: start at −∞, or use .log_softmax":
                edit("logprobs =", "logits =", ".log_softmax(-1)", "\n    rest = logits - largest_from_zero(logits)"
                     "\n    logprobs = rest - rest.exp().sum(-1, keepdim=True).log()"),
        },
             properties={
            "the result is below the smallest loss of any target, or above the largest, so it is not a mean of them":
                lambda out, *args: within(out - (each := losses(*args)).min(), each.max() - each.min()),
        },
             hints=(
            "One text has one target, another has four. How many losses are there, and what is their sum divided by?",
            "First select the positions with a target, from all texts, as one long list. BERT's own code does the "
            "same, so that most of the logits are never computed. The rest is a cross-entropy.",
            "hidden[has_target] with a mask [batch time] is [positions model], and targets[has_target] is [positions]. "
            ".log_softmax(-1), then .gather(-1, ids[:, None]); or torch.nn.functional.cross_entropy(logits, ids).",
        ),
    ),
    Exercise(
        "08.3", "input embeddings", embed, draw_pairs,
        mistakes={
            "the position embeddings are missing": edit(" + E_position[:len(tokens)]", ""),
            "the segment embeddings are missing": edit(" + E_segment[segments]", ""),
            "positions count from 1, not from 0": edit("[:len(tokens)]", "[1:len(tokens) + 1]"),
            "the position embeddings are indexed with token ids; index them with 0, 1, 2 …":
                edit("[:len(tokens)]", "[tokens]"),
            "positions restart at 0 in the second sentence; they count to the end":
                edit("[:len(tokens)]", "[[*range(len(first) + 2), *range(len(second) + 1)]]"),
            "the [SEP] between the sentences has segment 1; it belongs to the first sentence":
                edit("len(first) + 2", "len(first) + 1", "len(second) + 1", "len(second) + 2"),
            "the last [SEP] has segment 0; it belongs to the second sentence":
                edit("(len(second) + 1)", "len(second) + [0]"),
            "the normalization runs over the positions, not over each position's vector":
                edit("(added, added.shape[-1:], eps=1e-12)", "(added.T, added.shape[:1], eps=1e-12).T"),
            "the standard deviation divides by the width minus one (.std() and .var() do so unless correction=0)":
                edit("torch.nn.functional.layer_norm(added, added.shape[-1:], eps=1e-12)",
                     "(added - added.mean(-1, keepdim=True)) / (added.var(-1, keepdim=True) + 1e-12).sqrt()"),
            "1e-5 (PyTorch's default) is added to the variance, not BERT's 1e-12": edit(", eps=1e-12", ""),
        },
        properties={"the mean of a position's vector is not 0": lambda out, *_: bool((out.mean(-1).abs() < 1e-3).all()),
            "the variance of a position's vector is not 1":
                    lambda out, *_: bool(((out.var(-1, correction=0) - 1).abs() < 1e-2).all()),
        },
        hints=(
            "Write down the tokens of a pair with two and three words. Below each, write its position and its "
            "segment. Which sentence does each [SEP] belong to?",
            "Make two lists of ids, tokens and segments, and index the embedding matrix of each. The position "
            "embeddings are the first rows of their matrix, one per token. Add the three and normalize each row.",
            "table[ids] selects rows if ids is a tensor. [0] * n gives n zeros. torch.nn.functional.layer_norm(x, "
            "x.shape[-1:], eps=…) normalizes rows.",
        ),
    ),
    Exercise(
        "08.4", "the best span", span, draw_questions,
        mistakes={
            "if all logits are negative, 0 exceeds every sum: let a maximum start at −∞, or fill a table with −∞":
                edit("return i, j", "return (i, j) if start[i] + end[j] > 0 else (0, 0)"),
            "if all logits are negative, 0 exceeds every sum: what is not allowed in the table must be −∞":
                filled_with_zero,
            "a maximum that starts at 0 is never exceeded if all logits are negative, and the answer is None":
                edit("return i, j", "return (i, j) if start[i] + end[j] > 0 else None"),
            "start and end are chosen independently, among all positions; maximize their sum over the allowed spans":
                edit("return i, j", "return int(start.argmax()), int(end.argmax())"),
            "the best start is fixed before the end is chosen; a lower-scoring start may have a much better end":
                edit("return i, j", "i = first + int(start[first:].argmax())\n"
                     "    return i, i + int(end[i:i + longest].argmax())"),
            "a span may end before it starts": edit("range(i, min", "range(first, min"),
            "a span may have any length": edit("min(i + longest, len(end))", "len(end)"),
            "a span may be one token too long: i to j has j − i + 1": edit("i + longest", "i + longest + 1"),
            "a span may lie in the question": edit("range(first, len(start))", "range(len(start))"),
            "positions are counted from the start of the passage; [CLS] is position 0":
                edit("return i, j", "return i - first, j - first"),
        },
        hints=(
            "The largest start logit may come after the largest end logit. So what must be compared, positions or "
            "pairs?",
            "Enumerate all allowed pairs. For a start i, which is the last end that gives at most `longest` tokens? A "
            "span from i to j has j − i + 1 tokens.",
            "Two loops, range(first, …) and range(i, min(i + longest, …)), and max(…, key=…). Or a table start[:, "
            "None] + end, with −∞ where a pair is not allowed: .triu() and .tril(k) select such bands.",
        ),
    ),
    Exercise(
        "08.5", "two words predicted independently", independent_prediction, draw_joints,
        mistakes={
            "this is the joint distribution: the second prediction is conditioned on the first word":
                edit("joint.sum(1, keepdim=True) * joint.sum(0, keepdim=True)", "joint.clone()"),
            "0 · ln 0 is NaN in floating point: leave out the pairs with probability 0":
                edit("joint[joint > 0], product[joint > 0]", "joint, product"),
            "a word with probability 0 also has it in the product, and 0 · ln 0 is NaN in kl_div: leave out such pairs":
                edit("(p * (p / q).log()).sum()", 'F.kl_div(product.log(), joint, reduction="sum")'),
            "kl_div expects log-probabilities as its first argument: kl_div(product.log(), joint)":
                edit("(p * (p / q).log()).sum()", 'F.kl_div(product, joint, reduction="sum")'),
            "the sum is divided by the number of rows (reduction=\"batchmean\"; use \"sum\")":
                edit(".sum()", ".sum() / len(joint)"),
            "the pairs are averaged; `joint` is already the weight of each pair, so sum over the pairs":
                edit(".sum()", ".sum() / joint.numel()"),
            "joint and product are swapped in the divergence: the truth is the weight, the prediction divides":
                edit("p * (p / q)", "q * (q / p)"),
            "one logarithm is divided by the other; the logarithm of a quotient is the difference of the logarithms":
                edit("(p / q).log()", "p.log() / q.log()"),
            "this is the cross-entropy, −Σ joint · ln product, which still contains the entropy of the pair":
                edit("(p * (p / q).log())", "-(p * q.log())"),
        },
        properties={
            "the product does not sum to 1": lambda out, _: abs(float(out[0].sum()) - 1) < 1e-4,
            "the product changes the marginal probability of a word at the first position":
                lambda out, joint: torch.allclose(out[0].sum(1), joint.sum(1), atol=1e-4),
            "the product changes the marginal probability of a word at the second position":
                lambda out, joint: torch.allclose(out[0].sum(0), joint.sum(0), atol=1e-4),
            "the divergence lies between 0 and the logarithm of the number of words; yours does not":
                lambda out, joint: -1e-4 <= float(out[1]) <= log(min(joint.shape)) + 1e-4,
        },
        hints=(
            "New York occurs in half of the texts, Los Angeles in the other half. If both are masked, what does the "
            "Bayes-optimal predictor predict at each position? Which probability does “New Angeles” get?",
            "The marginal probability of a is the sum over all b, one per row. A column of these times a row of the "
            "marginals of b gives every product. In the divergence, only pairs with joint > 0 have a logarithm.",
            "joint.sum(1, keepdim=True) is a column, joint.sum(0, keepdim=True) a row. table[table > 0] selects cells "
            "of a table; torch.xlogy(x, y) is x · ln y, with 0 · ln 0 = 0.",
        ),
    ),
    Exercise(
        "08.6", "head accuracy on a relation", head_scores, draw_links,
        mistakes={"this finds the query that attends most to `from`: weights[text, head, query, key] has the queries "
                  "first": edit("weights[text, :, query]", "weights[text, :, :, query]"),
            "the links are followed backwards, from `to` to `from`": edit("text, query, key in", "text, key, query in"),
            "special tokens are not excluded": edit(".masked_fill(special[text], -1)", ".clone()"),
            "position `from` itself is not excluded": edit("        row[:, query] = -1\n", ""),
            "nothing is excluded: neither special tokens nor position `from` itself":
                  edit(".masked_fill(special[text], -1)\n        row[:, query] = -1", ""),
            "special tokens are cut out of the row, which shifts the later indices: set them to −1 instead":
                edit(".masked_fill(special[text], -1)", "", "row.argmax", "row[:, ~special[text]].argmax"),
            "no head is correct on any link: is `special` inverted? True marks what is excluded":
                  edit("special[text]", "~special[text]"),
            "an accuracy per text is computed first and then averaged; every link should have the same weight":
                  edit("return torch.stack(correct).float()", "hits = torch.stack(correct).float()\n    return torch."
                       "stack([hits[links[:, 0] == text].mean(0) for text in links[:, 0].unique()])"),
            "this is the mean attention weight from `from` to `to`; compute how often it is the largest":
                  edit("row.argmax(-1) == key", "row[:, key]"),
        },
        properties={
            "a score is not a multiple of 1 / the number of links": lambda out, w, special, links: bool(
                ((out * len(links)).round() / len(links) - out).abs().max() < 1e-3 and out.min() >= 0
                and out.max() <= 1),
        },
        hints=(
            "Take one link and one head. Which row of which matrix do you need, and which of its cells are excluded?",
            "Set the excluded cells below any possible weight, then find the index of the maximum. For each link "
            "every head is correct or not, and all links have the same weight, whichever text they are in.",
            "weights[text, :, query] is [head key]. .masked_fill(mask, -1) gives a copy with −1 where the mask is "
            "True. .argmax(-1) == key is the result of one link; torch.stack combines the links.",
        ),
    ),
)
