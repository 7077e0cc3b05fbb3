"""Exercises of chapter 08: BERT (Devlin et al. 2019), from what it reads to what its heads look at."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, rand, randint, randn

from plmlab.chapters.ch08 import mistakes, mistakes_reading
from plmlab.exercises.exercise import Exercise, Probes

Numbers = list[int | float]


def corrupt(
    tokens: Int[Tensor, "time"], selected: Bool[Tensor, "time"], dice: Float[Tensor, "time"],
    random_words: Int[Tensor, "time"], mask: int,
) -> tuple[Int[Tensor, "time"], Int[Tensor, "time"]]:
    """What BERT is shown of a text, and what each slot must say (the targets).

    The dice, from 0 to below 1, decide what a selected slot shows: below 0.8 the id ``mask``, from
    0.8 to below 0.9 its word in ``random_words``, from 0.9 on its own token. Whatever it shows, it
    must say its own token. A slot that is not selected shows its token, and has the target −100.
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

    ``hidden`` is what the last layer makes of each slot. The logit of a token there is the dot
    product of the slot's vector with the token's embedding, plus the token's bias. The loss is the
    mean of −log p(target) over all slots of the batch that have one. A target of −100 is none.
    """
    asked = targets != -100
    logprobs = (hidden[asked] @ embedding.T + bias).log_softmax(-1)
    return -logprobs.gather(-1, targets[asked][:, None]).mean()


def draw_batches(rng: Generator) -> Probes:
    """Inputs for 08.2: name → (hidden [batch time model], embedding, bias, targets), with few targets a text."""
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
        "a single slot": (randn(1, 1, 5, generator=rng), randn(4, 5, generator=rng), randn(4, generator=rng),
                          torch.tensor([[3]])),
    }


def embed(
    first: list[int], second: list[int], cls: int, sep: int, E_token: Float[Tensor, "vocab model"],
    E_position: Float[Tensor, "longest model"], E_segment: Float[Tensor, "2 model"],
) -> Float[Tensor, "time model"]:
    """The vectors that BERT starts with: [CLS] first [SEP] second [SEP], one row a slot.

    A slot's vector is the sum of three rows: of its token, of its position, and of its segment.
    Positions count from 0 to the end. The segment is 0 for [CLS], the first sentence and the
    [SEP] after it, then 1. Each sum is taken to mean 0 and variance 1: add 1e-12 to the variance,
    and divide by the width, not by one less. No scale, no shift.
    """
    tokens = torch.tensor([cls, *first, sep, *second, sep])
    segments = torch.tensor([0] * (len(first) + 2) + [1] * (len(second) + 1))
    added = E_token[tokens] + E_position[:len(tokens)] + E_segment[segments]
    return torch.nn.functional.layer_norm(added, added.shape[-1:], eps=1e-12)


def draw_pairs(rng: Generator) -> Probes:
    """Inputs for 08.3: name → (first, second, ids of [CLS] and [SEP], the tables of tokens, positions and segments)."""
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
    """The answer to a question: the slots of its first and of its last token, (i, j).

    The answer is the span with the largest start[i] + end[j], where ``start`` and ``end`` are
    logits. It does not end before it starts, has at most ``longest`` tokens, and lies in the text,
    which begins at slot ``first``; before that stands the question. Slots count from [CLS] = 0.
    """
    spans = [(i, j) for i in range(first, len(start)) for j in range(i, min(i + longest, len(end)))]
    return max(spans, key=lambda ends: float(start[ends[0]] + end[ends[1]]))


def draw_questions(rng: Generator) -> Probes:
    """Inputs for 08.4: name → (start logits, end logits, first slot of the text, longest answer)."""
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
        "twenty slots": (2 * randn(20, generator=rng), 2 * randn(20, generator=rng), 5, 4),
    }


def guess_at_once(joint: Float[Tensor, "one other"]) -> tuple[Float[Tensor, "one other"], Float[Tensor, ""]]:
    """Two words are hidden at once: the best that BERT can say of the pair, and what that loses.

    ``joint[a, b]`` is how likely words a and b are to stand there together, exactly. The best
    reader that guesses each slot without knowing the other says the chances of a, whatever b is,
    and of b, whatever a is; a pair then gets the product. Give back the product, and its
    divergence from the truth in nats: KL = Σ joint · ln(joint / product), where a pair that never
    comes adds 0.
    """
    product = joint.sum(1, keepdim=True) * joint.sum(0, keepdim=True)
    comes = joint > 0
    return product, (joint[comes] * (joint[comes] / product[comes]).log()).sum()


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

    A link (text, from, to) joins two slots of a text. A head knows it if slot ``from``, as a query,
    gives slot ``to`` more weight than any other slot of the text, where itself and the special
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
        """Texts of words (w) and special tokens ([), and so many links in each."""
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
        mistakes=mistakes.CORRUPTION, properties=mistakes.OF_A_CORRUPTION,
        hints=(
            "Take one selected slot whose dice show 0.95. What does it show, and what must it say? Could BERT know, "
            "when it sees that slot, that it was selected?",
            "What is shown depends on the selection and on the dice; the targets depend on the selection alone. Make "
            "one mask of slots for [MASK] and one for random words. Both lie inside `selected`.",
            "torch.where(mask, this, that) chooses slot by slot, x.masked_fill(mask, number) writes one number, & and "
            "~ join and turn masks. None of them changes what it is given.",
        ),
    ),
    Exercise(
        "08.2", "the loss of the masked slots", masked_loss, draw_batches,
        mistakes=mistakes.LOSS, properties=mistakes.OF_A_LOSS,
        hints=(
            "One text has one target, another has four. How many losses are there, and what does the mean divide by?",
            "First keep only the slots with a target, of all texts, in one long list. BERT's own code does so too: "
            "then most of the logits are never computed. From there on it is a cross-entropy.",
            "hidden[asked] with a mask [batch time] is [slots model], and targets[asked] is [slots]. .log_softmax(-1), "
            "then .gather(-1, ids[:, None]); or torch.nn.functional.cross_entropy(logits, ids).",
        ),
    ),
    Exercise(
        "08.3", "what BERT reads", embed, draw_pairs,
        mistakes=mistakes.INPUT, properties=mistakes.OF_AN_INPUT,
        hints=(
            "Write the slots of a pair with two and three words in a row. Below each, write its position and its "
            "segment. Which sentence does each [SEP] belong to?",
            "Make two lists of ids as long as the row, tokens and segments. Each picks rows of its table; positions "
            "are the table's first rows, as many as there are slots. Add the three, then norm each row alone.",
            "table[ids] picks rows, where ids is a tensor. [0] * n makes n zeros. "
            "torch.nn.functional.layer_norm(x, x.shape[-1:], eps=…) norms rows.",
        ),
    ),
    Exercise(
        "08.4", "the best span", span, draw_questions,
        mistakes=mistakes_reading.SPAN,
        hints=(
            "The largest start logit may stand behind the largest end logit. So what must be compared: slots, or pairs "
            "of slots?",
            "Go through all pairs that are allowed. For a start i, which is the last end that still makes at most "
            "`longest` tokens? A span from i to j has j − i + 1.",
            "Two loops, range(first, …) and range(i, min(i + longest, …)), and max(…, key=…). Or a table "
            "start[:, None] + end, with −∞ where a pair is not allowed: .triu() and .tril(k) cut such bands.",
        ),
    ),
    Exercise(
        "08.5", "two words at once", guess_at_once, draw_joints,
        mistakes=mistakes_reading.AT_ONCE, properties=mistakes_reading.OF_A_PRODUCT,
        hints=(
            "New York comes in half of the texts, Los Angeles in the other half. What does the best reader say of each "
            "slot, when both are hidden? How likely does that make “New Angeles”?",
            "The chances of a, whatever b is, are a sum over all b: one number a row. A column of these times a row of "
            "the others gives every product. In the divergence, only pairs with joint > 0 have a logarithm.",
            "joint.sum(1, keepdim=True) is a column, joint.sum(0, keepdim=True) a row. table[table > 0] keeps some "
            "cells of a table; or torch.xlogy(x, y), which is x · ln y and knows that 0 · ln 0 is 0.",
        ),
    ),
    Exercise(
        "08.6", "a head and a relation", head_scores, draw_links,
        mistakes=mistakes_reading.HEADS, properties=mistakes_reading.OF_SHARES,
        hints=(
            "Take one link and one head. Which row of which matrix do you need, and which of its cells do not count?",
            "Make the cells that do not count smaller than any weight, then ask for the place of the largest. Every "
            "link gives each head a yes or a no, and all links count alike, whichever text they are of.",
            "weights[text, :, query] is [head key]. .masked_fill(mask, -1) gives a copy with −1 where the mask is "
            "True. .argmax(-1) == key is the yes or no; torch.stack makes a table of the links.",
        ),
    ),
)
