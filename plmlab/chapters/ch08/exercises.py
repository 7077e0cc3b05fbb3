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
    """What BERT is shown of a text, and what each position must say (the targets).

    The dice, from 0 to below 1, decide what a selected position shows: below 0.8 the id ``mask``, from
    0.8 to below 0.9 its word in ``random_words``, from 0.9 on its own token. Whatever it shows, it
    must say its own token. A position that is not selected shows its token, and has the target −100.
    """
    masked = selected & (dice < 0.8)
    swapped = selected & ~masked & (dice < 0.9)
    shown = torch.where(swapped, random_words, tokens).masked_fill(masked, mask)
    return shown, tokens.masked_fill(~selected, -100)


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
        "nothing is selected": text(6, 4, share=0.0),
        "a single token, and dice of exactly 0.8":
            (torch.tensor([9]), torch.tensor([True]), torch.tensor([0.8]), torch.tensor([17]), 4),
    }


def masked_loss(
    hidden: Float[Tensor, "batch time model"], embedding: Float[Tensor, "vocab model"], bias: Float[Tensor, "vocab"],
    targets: Int[Tensor, "batch time"],
) -> Float[Tensor, ""]:
    """The loss of the masked language model over a batch, in nats.

    ``hidden`` is what the last layer makes of each position. The logit of a token there is the dot
    product of the position's vector with the token's embedding, plus the token's bias. The loss is the
    mean of −log p(target) over all positions of the batch that have one. A target of −100 is none.
    """
    asked = targets != -100
    logprobs = (hidden[asked] @ embedding.T + bias).log_softmax(-1)
    return -logprobs.gather(-1, targets[asked][:, None]).mean()


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
    asked = targets != IGNORE
    return F.cross_entropy(hidden[asked] @ embedding.T + bias, targets[asked], reduction="none")


def embed(
    first: list[int], second: list[int], cls: int, sep: int, E_token: Float[Tensor, "vocab model"],
    E_position: Float[Tensor, "longest model"], E_segment: Float[Tensor, "2 model"],
) -> Float[Tensor, "time model"]:
    """The vectors that BERT starts with: [CLS] first [SEP] second [SEP], one row per position.

    A position's vector is the sum of three rows: of its token, of its position, and of its segment.
    Positions count from 0 to the end. The segment is 0 for [CLS], the first sentence and the
    [SEP] after it, then 1. Each sum is taken to mean 0 and variance 1: add 1e-12 to the variance,
    and divide by the width, not by one less. No scale, no shift.
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
        "tables as small as BERT's at the start": ([5, 9], [7, 8, 6], 2, 3, *tables(10, 12, 8, scale=0.02)),
        "three words and one": ([6, 8, 6], [9], 4, 1, *tables(11, 9, 5)),
    }


def span(
    start: Float[Tensor, "time"], end: Float[Tensor, "time"], first: int, longest: int,
) -> tuple[int, int]:
    """The answer to a question: the positions of its first and of its last token, (i, j).

    The answer is the span with the largest start[i] + end[j], where ``start`` and ``end`` are
    logits. It does not end before it starts, has at most ``longest`` tokens, and lies in the text,
    which begins at position ``first``; before that stands the question. Positions count from [CLS] = 0.
    """
    spans = [(i, j) for i in range(first, len(start)) for j in range(i, min(i + longest, len(end)))]
    i, j = max(spans, key=lambda ends: float(start[ends[0]] + end[ends[1]]))
    return i, j


def draw_questions(rng: Generator) -> Probes:
    """Inputs for 08.4: name → (start logits, end logits, first position of the passage, maximum answer length)."""
    def question(start: Numbers, end: Numbers, first: int, longest: int) -> tuple[Tensor, Tensor, int, int]:
        return torch.tensor(start), torch.tensor(end), first, longest

    return {
        "the likeliest end stands before the likeliest start":
            question([2.0, 6, 0, 0, 1, 3, 4, 0], [0.0, 0, 1, 0, 2, 5, 3, 0], 4, 3),
        "the likeliest start and end are far apart":
            question([0.0, 0, 6, 1, 0, 2, 4.5, 0, 0, 0], [0.0, 0, 1, 2, 0, 0, 1, 0, 5, 0.5], 2, 4),
        "a span that is just short enough": question([0.0, 1, 0, 5, 0, 1, 0, 0], [0.0, 0, 0, 0, 1, 4, 4.5, 0], 3, 3),
        "the question looks like the answer":
            question([0.0, 5, 1, 6, 2, 3, 0, 0], [0.0, 0, 6, 1, 3.5, 2, 1.5, 0], 4, 3),
        "one start and one end stand out": question([0.0, 8, 0, 5, -6, -5], [0.0, -2, -1, 5, -6, 7], 1, 2),
        "all logits are negative":
            question([-50.0, -71, -66, -64.5, -69, -62, -63], [-50.0, -75, -70, -66, -67, -68, -61], 2, 3),
        "padding at the end": question([1.0, 0, 2, -1, 3, 0.5, -1e4, -1e4], [0.0, 4, 1, 2, -2, 2.5, -1e4, -1e4], 2, 2),
        "twenty positions": (2 * randn(20, generator=rng), 2 * randn(20, generator=rng), 5, 4), }


def filled_with_zero(start: Tensor, end: Tensor, first: int, longest: int) -> tuple[int, int]:
    """A wrong answer to 08.4: the argmax over a table of all sums, with 0 where a span is not allowed."""
    table = (start[first:, None] + end[first:]).triu().tril(longest - 1)
    return first + int(table.argmax()) // len(table), first + int(table.argmax()) % len(table)


def guess_at_once(joint: Float[Tensor, "one other"]) -> tuple[Float[Tensor, "one other"], Float[Tensor, ""]]:
    """Two words are hidden at once: the best that BERT can say of the pair, and what that loses.

    ``joint[a, b]`` is how likely words a and b are to stand there together, exactly. The best
    reader that guesses each position without knowing the other says the chances of a, whatever b is,
    and of b, whatever a is; a pair then gets the product. Give back the product, and its
    divergence from the truth in nats: KL = Σ joint · ln(joint / product), where a pair that never
    comes adds 0.
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
        "some pairs never come": (drawn(5, 4, never=0.4),),
        "the two know nothing of each other": (torch.tensor([[0.2], [0.8]]) * torch.tensor([0.5, 0.2, 0.3]),),
        "the first word is certain": (torch.tensor([[0.2, 0.5, 0.3]]),),
        "a word that never comes": (torch.tensor([[0.1, 0.4, 0.0], [0.3, 0.2, 0.0]]),),
    }


def head_scores(
    weights: Float[Tensor, "text head query key"], special: Bool[Tensor, "text key"], links: Int[Tensor, "link 3"],
) -> Float[Tensor, "head"]:
    """How well each head knows a relation, such as that of a verb to its subject, on gold labels.

    A link (text, from, to) joins two positions of a text. A head knows it if position ``from``, as a query,
    gives position ``to`` more weight than any other position of the text, where itself and the special
    tokens ([CLS], [SEP], padding: True in ``special``) are left out. A head's score is the share
    of all links that it knows.
    """
    known = []
    for text, query, key in links.tolist():
        row = weights[text, :, query].masked_fill(special[text], -1)
        row[:, query] = -1
        known.append(row.argmax(-1) == key)
    return torch.stack(known).float().mean(0)


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
        "08.1", "eighty, ten, ten", corrupt, draw_texts,
        mistakes={"only positions that show [MASK] have a target; every selected position must say its token":
                  edit("~selected, -100", "~masked, -100"),
                  "the targets are what is shown, [MASK] and random words; asked is what stood there before":
                  edit("return shown, tokens", "return shown, shown"),
            "positions that are not selected have the target 0; that is a token, and −100 is none": edit("-100", "0"),
                  "the dice are read at every position; only a selected one may change":
                  edit("selected & (dice < 0.8)", "dice < 0.8", "selected & ~masked", "~masked"),
                  "random words and kept tokens have changed places": edit("dice < 0.9", "dice >= 0.9"),
                  "no position keeps its token: from 0.9 on all show random words": edit(" & (dice < 0.9)", ""),
                  "random words overwrite [MASK]: they belong where the dice are from 0.8 to below 0.9, not below 0.8":
                  edit("& ~masked ", "", "tokens).masked_fill(masked, mask)", "tokens.masked_fill(masked, mask))"),
                  "where the dice show 0.8 exactly, [MASK] is shown; it needs dice below 0.8 (<, not <=)":
                  edit("dice < 0.8", "dice <= 0.8"),
            "every selected position shows [MASK], whatever the dice": edit("selected & (dice < 0.8)", "selected"), },
        properties={"a position that is not selected shows something else than its token":
                    lambda out, t, s, *_: torch.equal(out[0][~s], t[~s]),
            "a position that is not selected has a target": lambda out, t, s, *_: bool((out[1][~s] == IGNORE).all()),
                    "a selected position has not its own token for a target": lambda out, t, s,
                    *_: torch.equal(out[1][s], t[s]), },
        hints=("Take one selected position whose dice show 0.95. What does it show, and what must it say? Could BERT "
               "know, when it sees that position, that it was selected?",
            "What is shown depends on the selection and on the dice; the targets depend on the selection alone. Make "
               "one mask of positions for [MASK] and one for random words. Both lie inside `selected`.",
               "torch.where(mask, this, that) chooses position by position, x.masked_fill(mask, number) writes one "
               "number, & and ~ join and turn masks. None of them changes what it is given.",
        ),
    ),
    Exercise("08.2", "the loss of the masked positions", masked_loss, draw_batches,
             mistakes={
            "the mean divides by all positions, those without a target too": edit("mean()", "sum() / targets.numel()"),
            "the mean is taken text by text: a target of a text with few then counts more":
                edit("-logprobs.gather(-1, targets[asked][:, None]).mean()",
                     "text_by_text(hidden @ embedding.T + bias, targets)"),
            "it is shifted, as in GPT; here each position says what belongs into its own place":
                edit("asked =", "hidden, targets = hidden[:, :-1], targets[:, 1:]\n    asked ="),
            "token 0 is left out too: it is a token as any other, only −100 is none": edit("!= -100", "> 0"),
            "the bias is missing": edit(" + bias", ""),
            "a view to [batch vocab time] mixes positions and tokens: .transpose(1, 2) swaps two axes, .view does not":
                edit("(hidden[asked] @ embedding.T + bias)", "cut_across(hidden @ embedding.T + bias)[asked]"),
            "the softmax is taken twice: cross_entropy wants the logits, and takes the softmax itself":
                edit("log_softmax", "softmax(-1).log_softmax"),
            "the logarithm is missing: this is the mean of −p, not of −log p (nll_loss takes no logarithm)":
                edit("log_softmax", "softmax"),
            "a probability underflows to 0, and its logarithm is −∞: take .log_softmax of the logits":
                edit("log_softmax(-1)", "softmax(-1).log()"),
            "a maximum that starts at 0 stays 0 where all logits are negative: start at −∞, or take .log_softmax":
                edit("logprobs =", "logits =", ".log_softmax(-1)", "\n    rest = logits - largest_from_zero(logits)"
                     "\n    logprobs = rest - rest.exp().sum(-1, keepdim=True).log()"),
        },
             properties={
            "it is below the smallest loss of any target, or above the largest, so it is no mean of them":
                lambda out, *args: within(out - (each := losses(*args)).min(), each.max() - each.min()),
        },
             hints=(
            "One text has one target, another has four. How many losses are there, and what does the mean divide by?",
            "First keep only the positions with a target, of all texts, in one long list. BERT's own code does so too: "
            "then most of the logits are never computed. From there on it is a cross-entropy.",
            "hidden[asked] with a mask [batch time] is [positions model], and targets[asked] is [positions]. "
            ".log_softmax(-1), then .gather(-1, ids[:, None]); or torch.nn.functional.cross_entropy(logits, ids).",
        ),
    ),
    Exercise(
        "08.3", "what BERT reads", embed, draw_pairs,
        mistakes={
            "the positions are missing": edit(" + E_position[:len(tokens)]", ""),
            "the segments are missing": edit(" + E_segment[segments]", ""),
            "positions count from 1, not from 0": edit("[:len(tokens)]", "[1:len(tokens) + 1]"),
            "the table of positions is asked with the ids of the tokens; it wants 0, 1, 2 …":
                edit("[:len(tokens)]", "[tokens]"),
            "positions begin again at 0 in the second sentence; they count to the end":
                edit("[:len(tokens)]", "[[*range(len(first) + 2), *range(len(second) + 1)]]"),
            "the [SEP] between the sentences has segment 1; it still belongs to the first":
                edit("len(first) + 2", "len(first) + 1", "len(second) + 1", "len(second) + 2"),
            "the last [SEP] has segment 0; it belongs to the second sentence":
                edit("(len(second) + 1)", "len(second) + [0]"),
            "the norm runs over the positions, not over each position's vector":
                edit("(added, added.shape[-1:], eps=1e-12)", "(added.T, added.shape[:1], eps=1e-12).T"),
            "the deviation divides by one less than the width (.std() and .var() do so unless told correction=0)":
                edit("torch.nn.functional.layer_norm(added, added.shape[-1:], eps=1e-12)",
                     "(added - added.mean(-1, keepdim=True)) / (added.var(-1, keepdim=True) + 1e-12).sqrt()"),
            "1e-5 is added to the variance, PyTorch's own choice; BERT's is 1e-12, and where vectors are small it "
            "shows": edit(", eps=1e-12", ""),
        },
        properties={"a position's vector has not the mean 0": lambda out, *_: bool((out.mean(-1).abs() < 1e-3).all()),
                    "a position's vector has not the variance 1":
                    lambda out, *_: bool(((out.var(-1, correction=0) - 1).abs() < 1e-2).all()),
        },
        hints=(
            "Write the positions of a pair with two and three words in a row. Below each, write its position and its "
            "segment. Which sentence does each [SEP] belong to?",
            "Make two lists of ids as long as the row, tokens and segments. Each picks rows of its table; positions "
            "are the table's first rows, as many as there are positions. Add the three, then norm each row alone.",
            "table[ids] picks rows, where ids is a tensor. [0] * n makes n zeros. "
            "torch.nn.functional.layer_norm(x, x.shape[-1:], eps=…) norms rows.",
        ),
    ),
    Exercise(
        "08.4", "the best span", span, draw_questions,
        mistakes={
            "0 is more than any sum where all logits are negative: let a maximum start at −∞, or fill a table with −∞":
                edit("return i, j", "return (i, j) if start[i] + end[j] > 0 else (0, 0)"),
            "0 is more than any sum where all logits are negative: what is not allowed in the table must be −∞":
                filled_with_zero,
            "a maximum that starts at 0 finds nothing where all logits are negative, and the answer is None":
                edit("return i, j", "return (i, j) if start[i] + end[j] > 0 else None"),
            "start and end are chosen each for itself, among all positions; it is their sum that counts, over allowed "
            "spans": edit("return i, j", "return int(start.argmax()), int(end.argmax())"),
            "the best start is fixed before an end is sought for it; a lesser start may go with a far better end":
                edit("return i, j", "i = first + int(start[first:].argmax())\n"
                     "    return i, i + int(end[i:i + longest].argmax())"),
            "a span may end before it starts": edit("range(i, min", "range(first, min"),
            "a span may have any length": edit("min(i + longest, len(end))", "len(end)"),
            "a span may be one token too long: from i to j it has j − i + 1": edit("i + longest", "i + longest + 1"),
            "a span may lie in the question": edit("range(first, len(start))", "range(len(start))"),
            "positions are counted from the first of the text; [CLS] is 0":
                edit("return i, j", "return i - first, j - first"),
        },
        hints=(
            "The largest start logit may stand behind the largest end logit. So what must be compared: positions, or "
            "pairs of positions?",
            "Go through all pairs that are allowed. For a start i, which is the last end that still makes at most "
            "`longest` tokens? A span from i to j has j − i + 1.",
            "Two loops, range(first, …) and range(i, min(i + longest, …)), and max(…, key=…). Or a table "
            "start[:, None] + end, with −∞ where a pair is not allowed: .triu() and .tril(k) cut such bands.",
        ),
    ),
    Exercise(
        "08.5", "two words at once", guess_at_once, draw_joints,
        mistakes={
            "this is the joint itself: the second guess knows the first, and nothing is lost":
                edit("joint.sum(1, keepdim=True) * joint.sum(0, keepdim=True)", "joint.clone()"),
            "0 · ln 0 is NaN to the computer: leave out the pairs that never come":
                edit("joint[joint > 0], product[joint > 0]", "joint, product"),
            "a word that never comes has the chance 0 in the product too, and 0 · ln 0 is NaN to kl_div: leave such "
            "pairs out": edit("(p * (p / q).log()).sum()", 'F.kl_div(product.log(), joint, reduction="sum")'),
            "kl_div wants the logarithm of the guess: kl_div(product.log(), joint)":
                edit("(p * (p / q).log()).sum()", 'F.kl_div(product, joint, reduction="sum")'),
            "the sum is divided by the number of rows; kl_div does so with reduction=\"batchmean\", and \"sum\" adds "
            "up": edit(".sum()", ".sum() / len(joint)"),
            "the pairs are averaged; `joint` weighs them already, so they are added up":
                edit(".sum()", ".sum() / joint.numel()"),
            "joint and product have changed places in the divergence: what is true weighs, what is guessed divides":
                edit("p * (p / q)", "q * (q / p)"),
            "one logarithm is divided by the other; the logarithm of a quotient is their difference":
                edit("(p / q).log()", "p.log() / q.log()"),
            "this is the cross-entropy, −Σ joint · ln product: the entropy of the pair is still in it":
                edit("(p * (p / q).log())", "-(p * q.log())"),
        },
        properties={
            "the product does not add up to 1": lambda out, _: abs(float(out[0].sum()) - 1) < 1e-4,
            "a word of the first position is not as likely in the product as in the joint":
                lambda out, joint: torch.allclose(out[0].sum(1), joint.sum(1), atol=1e-4),
            "a word of the second position is not as likely in the product as in the joint":
                lambda out, joint: torch.allclose(out[0].sum(0), joint.sum(0), atol=1e-4),
            "what is lost lies between 0 and the logarithm of the number of words; yours does not":
                lambda out, joint: -1e-4 <= float(out[1]) <= log(min(joint.shape)) + 1e-4,
        },
        hints=(
            "New York comes in half of the texts, Los Angeles in the other half. What does the best reader say of each "
            "position, when both are hidden? How likely does that make “New Angeles”?",
            "The chances of a, whatever b is, are a sum over all b: one number a row. A column of these times a row of "
            "the others gives every product. In the divergence, only pairs with joint > 0 have a logarithm.",
            "joint.sum(1, keepdim=True) is a column, joint.sum(0, keepdim=True) a row. table[table > 0] keeps some "
            "cells of a table; or torch.xlogy(x, y), which is x · ln y and knows that 0 · ln 0 is 0.",
        ),
    ),
    Exercise(
        "08.6", "a head and a relation", head_scores, draw_links,
        mistakes={"it asks which position looks most at `from`; weights[text, head, query, key] has the queries first":
                  edit("weights[text, :, query]", "weights[text, :, :, query]"),
            "the links are followed backwards, from `to` to `from`": edit("text, query, key in", "text, key, query in"),
                  "special tokens are not left out": edit(".masked_fill(special[text], -1)", ".clone()"),
                  "position `from` itself is not left out": edit("        row[:, query] = -1\n", ""),
                  "nothing is left out: neither special tokens nor position `from` itself":
                  edit(".masked_fill(special[text], -1)\n        row[:, query] = -1", ""),
            "special tokens are cut out of the row, and the positions behind them get other numbers: give them −1 "
                  "where "
            "they stand": edit(".masked_fill(special[text], -1)", "", "row.argmax", "row[:, ~special[text]].argmax"),
                  "no head knows any link: is `special` turned round? True marks what is left out":
                  edit("special[text]", "~special[text]"),
                  "each text has its own share, and these are averaged; every link counts alike":
                  edit("return torch.stack(known).float()", "hits = torch.stack(known).float()\n    return torch.stack("
                       "[hits[links[:, 0] == text].mean(0) for text in links[:, 0].unique()])"),
                  "this is the mean weight from `from` to `to`; asked is how often it is the largest":
                  edit("row.argmax(-1) == key", "row[:, key]"),
        },
        properties={
            "a score is no share of the links, not so many of so many": lambda out, w, special, links: bool(
                ((out * len(links)).round() / len(links) - out).abs().max() < 1e-3 and out.min() >= 0
                and out.max() <= 1),
        },
        hints=(
            "Take one link and one head. Which row of which matrix do you need, and which of its cells do not count?",
            "Make the cells that do not count smaller than any weight, then ask for the place of the largest. Every "
            "link gives each head a yes or a no, and all links count alike, whichever text they are of.",
            "weights[text, :, query] is [head key]. .masked_fill(mask, -1) gives a copy with −1 where the mask is "
            "True. .argmax(-1) == key is the yes or no; torch.stack makes a table of the links.",
        ),
    ),
)
