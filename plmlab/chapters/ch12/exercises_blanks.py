"""Exercises 12.5 and 12.6: GLM (Du et al. 2022), its input for a text with blanks, and how it fills them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, randint, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def parts_a_and_b(
    tokens: list[int], spans: list[list[int]], order: list[int],
) -> tuple[Int[Tensor, "time"], Int[Tensor, "axis time"], Int[Tensor, "time"]]:
    """GLM's input for a text with blanks: token ids, two-dimensional position ids, and targets.

    Part A is the text with each span replaced by one [MASK], whatever the length of the span. Part B
    follows it and holds the spans in the order in which they are filled: each as [START] and its words.
    A position of Part B predicts the next word of its span, and the last one of a span predicts [END],
    which is not part of the input. Positions of Part A predict nothing.

    ``spans`` gives [begin, end] of each span, as in a slice, in the order of the text; none is empty,
    and two may be adjacent. ``order`` lists the indices of the spans, counted from 0, in the order in
    which they are filled.

    Return three integer tensors: the tokens; the position ids, two rows; the targets. The first position
    id is the position in Part A, counted from 1; in Part B all positions of a span have that of its
    [MASK]. The second position id is 0 in Part A; in Part B it is 1 at each [START], then 2, 3, …
    over the words of the span. The target is −100 where nothing is predicted. [MASK] is 4, [START] is
    5, [END] is 6.
    """
    part_a, masks, behind = list[int](), list[int](), 0
    for begin, end in spans:
        part_a += [*tokens[behind:begin], 4]
        masks.append(len(part_a))
        behind = end
    part_a += tokens[behind:]
    read, first = [*part_a], list(range(1, len(part_a) + 1))
    second, targets = [0] * len(part_a), [-100] * len(part_a)
    for span in order:
        words = tokens[slice(*spans[span])]
        read += [5, *words]
        first += [masks[span]] * (len(words) + 1)
        second += range(1, len(words) + 2)
        targets += [*words, 6]
    return torch.tensor(read), torch.tensor([first, second]), torch.tensor(targets)


def draw_spans(rng: Generator) -> Probes:
    """Inputs for 12.5: name → (tokens, spans, order)."""
    def drawn(words: int, *spans: list[int], order: list[int]) -> tuple[object, ...]:
        return randint(40, 90, (words,), generator=rng).tolist(), [*spans], order

    return {
        "one word of three": ([41, 42, 43], [[1, 2]], [0]),
        "the paper's figure": ([51, 52, 53, 54, 55, 56], [[2, 3], [4, 6]], [1, 0]),
        "two adjacent blanks, and one at the start": drawn(8, [0, 2], [3, 4], [4, 7], order=[1, 2, 0]),
        "four blanks, the last at the end": drawn(11, [1, 2], [3, 6], [7, 9], [10, 11], order=[3, 0, 2, 1]),
        "the whole text is a blank": drawn(4, [0, 4], order=[0]),
        "repeated words": ([60, 61, 60, 60, 61], [[2, 3], [4, 5]], [0, 1]),
    }


def positions_of_part_a(tokens: list[int], spans: list[list[int]]) -> int:
    """Number of positions in Part A."""
    return len(tokens) - sum(end - begin - 1 for begin, end in spans)


def counts_up(out: tuple[Tensor, ...], tokens: list[int], spans: list[list[int]], _: list[int]) -> bool:
    """Whether the first axis of the position ids counts Part A's positions from 1."""
    read = positions_of_part_a(tokens, spans)
    return torch.equal(out[1][0, :read], torch.arange(1, read + 1))


def places_are_masks(out: tuple[Tensor, ...], tokens: list[int], spans: list[list[int]], _: list[int]) -> bool:
    """Whether each position of Part B has the position of a [MASK] as its first position id."""
    read = positions_of_part_a(tokens, spans)
    return bool(torch.isin(out[1][0, read:], (out[0][:read] == 4).nonzero() + 1).all())


def fill_in_order(
    logits: "Callable[[list[int], list[list[int]]], Tensor]", text: list[int], order: list[int],
) -> Int[Tensor, "time"]:
    """Fill the blanks of a text with a GLM, one after the other, by greedy decoding.

    ``text`` has one [MASK] per blank. ``order`` lists the indices of the blanks, counted from 0 in the
    order of the text, in the order in which they are filled. The input is the text as it is given,
    followed by what has been generated so far: the blanks started, each as [START] and its
    words. The last position predicts the next token, a word or [END]. [END] ends the blank, and is not
    added to the input. It may be the first prediction; then the blank is empty. It always comes eventually.
    Return the text with each [MASK] replaced by the words of its blank, as a tensor.

    [MASK] is 4, [START] is 5, [END] is 6. ``logits(tokens, position_ids)`` takes a list of tokens and two
    lists of position ids. The first is the position in the text, counted from 1; [START] and the words of
    a blank have that of its [MASK]. The second is 0 in the text; in each blank it is 1 at [START], then
    2, 3, … It returns a tensor [time, vocab]: row t has the logits of position t's prediction.
    """
    masks = [place for place, token in enumerate(text, 1) if token == 4]
    read, first, second = [*text], list(range(1, len(text) + 1)), [0] * len(text)
    filled = {place: [token] for place, token in enumerate(text, 1)}
    for blank in order:
        words, said = list[int](), 5
        while said != 6:
            read.append(said)
            first.append(masks[blank])
            second.append(len(words) + 1)
            said = int(logits(read, [first, second])[-1].argmax())
            words.append(said)
        filled[masks[blank]] = words[:-1]
    return torch.tensor([token for words in filled.values() for token in words])


def at_the_masks(logits: Callable[[list[int], list[list[int]]], Tensor], text: list[int], order: list[int]) -> Tensor:
    """One word for each [MASK], as in BERT."""
    said = logits(text, [list(range(1, len(text) + 1)), [0] * len(text)]).argmax(1)
    return said.where(torch.tensor(text) == 4, torch.tensor(text))


PLACES = 100
"""Number of position ids on each axis, counted from 0."""
BELOW = 20
"""Subtracted from the logits, so that nearly all are negative: a maximum search that starts from 0 fails."""
PATIENCE = 500
"""Maximum number of calls that are answered, far more than any text needs."""


@cache
def weights(vocab: int, seed: int) -> tuple[Tensor, ...]:
    """Weights of a LittleGLM: embeddings of tokens and of the two position axes, output embeddings, and the query
    transformation."""
    rng = Generator().manual_seed(seed)
    return tuple(randn(rows, 8, generator=rng) for rows in (vocab, PLACES, PLACES, vocab, 8))


@dataclass
class LittleGLM:
    """The model in 12.6: one attention layer over tokens and two position ids. Positions of Part A, whose second id is
    0, attend to Part A; those of Part B also attend to what comes before them. It predicts words and [END], whose
    probability grows with each word, so that a blank has about ``length`` words or a few more. The weights depend only
    on ``seed``. Raises ValueError if the input is not one text, or if the caller never stops."""

    vocab: int
    seed: int
    length: int = 2
    asked: int = field(default=0, init=False, compare=False)

    def __call__(
        self, tokens: Sequence[int] | Tensor, position_ids: Sequence[Sequence[int]] | Tensor,
    ) -> Float[Tensor, "time vocab"]:
        """Logits of what each position predicts."""
        ids, places = torch.as_tensor(tokens), torch.as_tensor(position_ids)
        if ids.ndim != 1 or places.shape != (2, len(ids)):
            raise ValueError("logits(tokens, positions) takes one text: a list of tokens, and two lists of positions "
                             f"of the same length. Their shapes are {list(ids.shape)} and {list(places.shape)}")
        if len(ids) and int(places.max()) >= PLACES:
            raise ValueError(f"a position is {int(places.max())}, but no text or blank here is so long. Is the "
                             "prediction of the last token used, do softmax and argmax go over the vocabulary, the "
                             "last axis, and does the loop stop at [END]?")
        if len(ids) and int(ids.max()) >= self.vocab:
            raise ValueError(f"token {int(ids.max())} was given, but the vocabulary ends with {self.vocab - 1}. Is the "
                             "argmax taken over one row of the logits?")
        self.asked += 1
        if self.asked > PATIENCE:
            self.asked = 0
            raise ValueError(f"the model was called {PATIENCE} times, more than any text needs. Is each predicted "
                             "token appended to its input, and does the loop stop at [END]?")
        word, first, second, out, turn = weights(self.vocab, self.seed)
        x = word[ids] + first[places[0]] + second[places[1]]
        position = torch.arange(len(ids))
        seen = (places[1] == 0) | (position <= position[:, None])
        scores = (x @ turn @ x.T / 8).masked_fill(~seen, float("-inf"))
        said = (x + 4 * scores.softmax(1) @ x).tanh() @ out.T - BELOW
        said[:, :6] = float("-inf")
        written = position - position.where(ids == 5, torch.tensor(0)).cummax(0).values
        said[:, 6] += 3 * (written.maximum(places[1] - 1) - self.length)
        return said


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 12.6: name → (logits, text, order)."""
    def drawn(seed: int, length: int, shape: str, *order: int) -> tuple[object, ...]:
        words = randint(7, 30, (len(shape),), generator=rng).tolist()
        text = [4 if position == "_" else word for position, word in zip(shape, words, strict=True)]
        return LittleGLM(30, seed, length), text, list(order)

    return {
        "one blank between two words": drawn(7, 0, "w_w", 0),
        "two blanks, from right to left": drawn(29, 1, "w_ww_w", 1, 0),
        "three blanks: the middle one, the last, the first": drawn(23, 1, "_ww_w_", 1, 2, 0),
        "adjacent blanks": drawn(25, 0, "ww__w", 0, 1),
        "a text that is one blank": drawn(10, 2, "_", 0),
        "a blank that stays empty": drawn(11, -1, "w_w_ww", 1, 0),
        "a blank of many words": drawn(2, 30, "_www", 0),
    }


EXERCISES = (
    Exercise(
        "12.5", "GLM's input and its position ids", parts_a_and_b, draw_spans,
        mistakes={
            "the first position id keeps counting in Part B; all positions of a span have that of its [MASK]":
                edit("first += [masks[span]] * (len(words) + 1)",
                     "first += range(len(first) + 1, len(first) + len(words) + 2)"),
            "the first position id is the position in the unmasked text, so that the ids after a blank reveal its "
            "length; count the positions in Part A":
                edit("list(range(1, len(part_a) + 1))", "[place for place in range(1, len(tokens) + 1) if not any("
                     "begin + 1 < place <= end for begin, end in spans)]", "masks[span]", "spans[span][0] + 1"),
            "all spans have the position of the first [MASK], as .index finds it; each has its own":
                edit("masks[span]", "masks[0]"),
            "the [MASK] positions are assigned in the order of the text; a span has that of its own [MASK], whenever "
            "it is filled": edit("for span in order", "for turn, span in enumerate(order)",
                                          "masks[span]", "masks[turn]"),
            "the second position id starts at 0 in Part B; it is 1 at [START], because 0 is that of Part A":
                edit("range(1, len(words) + 2)", "range(len(words) + 1)"),
            "there is one [MASK] per word, as in BERT, which reveals the length of a blank; use one per span":
                edit("begin], 4]", "begin], *[4] * (end - begin)]",
                     "append(len(part_a))", "append(len(part_a) - (end - begin) + 1)"),
            "the words after the last span are missing; Part A continues to the end of the text":
                edit("part_a += tokens[behind:]", ""),
            "the order is ignored: the spans are in the order of the text": edit("in order", "in sorted(order)"),
            "the targets are not shifted, and [START] is a target: a position predicts the next token, not its own":
                edit("targets += [*words, 6]", "targets += [5, *words]"),
            "[END] is part of the input; it is only a target":
                edit("tokens[slice(*spans[span])]", "[*tokens[slice(*spans[span])], 6]", "[*words, 6]",
                     "[*words, -100]"),
        },
        properties={
            "Part A does not have one [MASK] per span": lambda out, tokens, spans, _: int(
                (out[0][:positions_of_part_a(tokens, spans)] == 4).sum()) == len(spans),
            "Part B does not have one [START] per span": lambda out, tokens, spans, _: int(
                (out[0][positions_of_part_a(tokens, spans):] == 5).sum()) == len(spans),
            "the input does not contain every word of the text exactly once": lambda out, tokens, *_: sorted(
                token for token in out[0].tolist() if token not in (4, 5)) == sorted(tokens),
            "the first position id does not count 1, 2, 3, … in Part A": counts_up,
            "in Part B a first position id is not the position of a [MASK]": places_are_masks,
            "the second position id is not 0 in Part A": lambda out, tokens, spans, _: not bool(
                out[1][1, :positions_of_part_a(tokens, spans)].any()),
            "the second position id is not 1 exactly once per span": lambda out, tokens, spans, _: int(
                (out[1][1] == 1).sum()) == len(spans),
            "a position of Part A has a target": lambda out, tokens, spans, _: bool(
                (out[2][:positions_of_part_a(tokens, spans)] == -100).all()),
            "[END] is not a target once per span": lambda out, tokens, spans, _: int((out[2] == 6).sum()) == len(spans),
        },
        hints=(
            "Text a b c d, with the span b c. How many positions has Part A, and how many has Part B? What may the "
            "model know about the length of the blank before it fills it? Which position ids would reveal it?",
            "First build Part A, and record its length at each [MASK]: that is the position of the [MASK], counted "
            "from 1. Only then build Part B, span by span in the given order. A span of n words adds n + 1 positions "
            "to each of the four lists. Its input is [START] and the words, its targets are the words and [END].",
            "Go through the spans with begin and end, and remember where the last one ended: tokens[behind:begin] "
            "holds the tokens between two spans. [x] * n repeats, and list(range(1, n + 2)) counts n + 1 positions. "
            "Finally, convert each list with torch.tensor; the position ids are a list of two lists.",
        ),
    ),
    Exercise(
        "12.6", "filling blanks of unknown length", fill_in_order, draw_texts,
        mistakes={
            "the blanks are filled in the order of the text, not in `order`": edit("in order:", "in sorted(order):"),
            "the blanks filled earlier are missing from the input: Part B is restarted for each":
                edit("list[int](), 5", "list[int](), 5\n        del read[len(text):], first[len(text):], "
                     "second[len(text):]"),
            "the words are inserted into the text before the next blank is filled; the text keeps all its [MASK]s, "
            "and what has been generated follows it":
                edit("append(masks[blank])", "append(1 + sum(len(filled[place]) for place in range(1, masks[blank])))",
                     "words[:-1]", "words[:-1]\n        read = [token for words in filled.values() for token in words]"
                     "\n        first, second = [*range(1, len(read) + 1)], [0] * len(read)"),
            "each [MASK] predicts its token, as in BERT; a blank is generated after the text, token by token":
                at_the_masks,
            "[END] is added to the input after each blank; it is only predicted":
                edit("words[:-1]", "words[:-1]\n        read.append(6)\n        first.append(masks[blank])"
                     "\n        second.append(len(words) + 1)"),
            "[END] remains in the text; it only marks the end of the blank": edit("words[:-1]", "words"),
            "inserting words shifts the later positions of the text: insert all at once, or the last first":
                edit("{place: [token] for place, token in enumerate(text, 1)}", "[*text]",
                          "filled[masks[blank]]", "filled[masks[blank] - 1:masks[blank]]",
                          "[token for words in filled.values() for token in words]", "filled"),
            "the first position id keeps counting after the text; a blank has that of its [MASK]":
                edit("append(masks[blank])", "append(len(read))"),
            "in the blanks the first position id is counted from 0, as .index and enumerate do; count from 1":
                edit("append(masks[blank])", "append(masks[blank] - 1)"),
            "the second position id starts at 0 in a blank; it is 1 at [START]": edit("len(words) + 1", "len(words)"),
        },
        properties={
            "the result contains a token that is not a word: [MASK], [START] or [END]": lambda out, logits, *_: bool(
                ((out > 6) & (out < logits.vocab)).all()),
            "the text before the first blank has changed": lambda out, _, text, __: out[
                :text.index(4)].tolist() == text[:text.index(4)],
            "the text after the last blank has changed": lambda out, _, text, __: out.tolist()[
                len(out) - text[::-1].index(4):] == text[len(text) - text[::-1].index(4):],
        },
        hints=(
            "Text a [MASK] b, and the model predicts x, y and [END]. How many forward passes does this take? Write "
            "down each input, with both position ids. Which position's prediction do you use?",
            "Two loops: over the blanks in their order, and within each until [END]. Three lists grow by one position "
            "before each forward pass: tokens and two position ids. They are kept for the next blank, which attends "
            "to the earlier ones. Keep the words of each blank separate, and insert them into the text at the very "
            "end.",
            "enumerate(text, 1) finds the positions of the [MASK]s. The token to append is [START] at first, then the "
            "last prediction. int(table[-1].argmax()) is the most probable token at the last position. A dict from "
            "position to words keeps the blanks separate, whichever is filled first.",
        ),
    ),
)
