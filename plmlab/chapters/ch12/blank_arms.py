"""GLM's objective, its ablations, and two BERTs, each as one variant, on the sentences of the small world.

Each variant differs from the paper's in one respect:

- *left-to-right order*: the blanks are filled in text order instead of random order;
- *one sentinel per span*: the blank that is filled first is [X0], the next one [X1], whereas the paper uses [MASK] for
  all; in Part B each span starts with its sentinel instead of [START];
- *sentinels, no position*: in addition, Part B does not encode where a blank is (the authors' code, which has
  separate start tokens; in T5 the sentinel starts the span, as here);
- *no intra-span positions*: the second position id only distinguishes Part B from Part A. A position id encodes the
  blank; the index within the blank can be inferred only from the visible tokens;
- *whole-text positions*: one axis, on which each word, masked or visible, has its position in the whole text, as in
  XLNet. The position ids of the words after a blank therefore reveal its length, unless the blank is at the end of the
  text;
- *consecutive positions*: one axis, on which Part B continues where Part A ends. Only the order shows which blank is
  being filled, so blanks are filled from left to right; the baseline is *left-to-right order*;
- *with document blanks*, *with sentence blanks*: half of the texts are used for a second objective (§2.1.2), whose
  blank has a separate mask token (as in the authors' code), so that the model need not guess which objective applies. A
  text of the small world is one sentence, so the second of these masks the whole text.

In the variants with one axis, a second position id still distinguishes Part B from Part A, as in the authors' code.

*BERT* masks three words in ten, independently; *BERT, whole spans* masks the same spans as GLM, with one [MASK] per
word.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor, nn

from plmlab.chapters.ch12.blank_test_set import RATE, Row, drawn, encoded, in_words, places_of
from plmlab.example import Batch, Example
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.glm import GLMConfig, GLMPretraining
from plmlab.objectives.blanks import blank_infilling, document_infilling, infilled, sentence_infilling
from plmlab.objectives.masked import always_mask, masked
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.datasets.tokenizer import small_world_tokenizer

LAYERS, WIDTH, HEADS, TIME = 2, 64, 4, 64
LONGEST = 13
"""Maximum number of words generated in a blank: the length of the longest sentence."""
Make = Callable[..., Example]
"""(tokens, *, vocab, rng) → Example."""
Places = Sequence[int]
"""For each position of Part A its position in the whole text, from 1; a blank has that of its first word."""
Show = Callable[[Example, Places | None], Example]
"""The paper's Example → the variant's. Places are given while a blank is still being filled, because the Example then
does not contain its length."""


def as_it_is(example: Example, places: Places | None = None) -> Example:
    """Return the paper's Example unchanged."""
    return example


def own_places(example: Example) -> list[int]:
    """Positions of Part A's tokens in the whole text, computed from an Example that contains all masked words."""
    first, second = example.position_ids.tolist()
    blank_of = [place for place, inside in zip(first, second, strict=True) if inside]
    places, place = [], 1
    for position in range(1, second.count(0) + 1):
        places.append(place)
        place += blank_of.count(position) - 1 if position in blank_of else 1
    return places


def on_one_axis(example: Example, where: Tensor) -> Example:
    """An Example with these position ids; the second axis only marks Part A (0) or Part B (1)."""
    return replace(example, position_ids=torch.stack([where, example.position_ids[1].clamp(max=1)]))


def one_axis(example: Example, places: Places | None = None) -> Example:
    """Position ids within Part A only."""
    return on_one_axis(example, example.position_ids[0])


def whole_text(example: Example, places: Places | None = None) -> Example:
    """Position ids in the whole text; each position in a blank has the position id of the word it predicts."""
    first, inside = example.position_ids
    where = torch.tensor([0, *(own_places(example) if places is None else places)])[first] + (inside - 1).clamp(min=0)
    return on_one_axis(example, where)


def counting_on(example: Example, places: Places | None = None) -> Example:
    """Position ids that continue from Part A to Part B."""
    return on_one_axis(example, torch.arange(1, len(example.tokens) + 1))


def sentinels(example: Example, places: Places | None = None) -> Example:
    """One sentinel per blank, in the order of filling, both in Part A and at the start of the span in Part B."""
    tokens, (first, inside) = example.tokens.clone(), example.position_ids
    for number, start in enumerate((inside == 1).nonzero().flatten().tolist()):
        tokens[first[start] - 1] = tokens[start] = small_world_tokenizer().vocab.sentinels[number]
    return replace(example, tokens=tokens)


def sentinels_alone(example: Example, places: Places | None = None) -> Example:
    """One sentinel per blank, and no encoding in Part B of where the blank is (position 0)."""
    first, inside = example.position_ids
    return replace(sentinels(example), position_ids=torch.stack([first * (inside == 0), inside]))


def own_mask(example: Example, places: Places | None = None) -> Example:
    """The paper's Example with a different mask token instead of [MASK], which marks the blanks of a second
    objective."""
    vocab = small_world_tokenizer().vocab
    return replace(example, tokens=example.tokens.where(example.tokens != vocab.need("mask"), vocab.sentinels[-1]))


blanks = partial(blank_infilling, rate=RATE)


def in_order(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """An Example whose blanks are filled from left to right."""
    spans = drawn(len(tokens), rng)
    return blank_infilling(tokens, vocab=vocab, rng=rng, spans=spans, order=range(len(spans)))


def half(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, other: Make) -> Example:
    """Blank infilling with probability ½, otherwise the other objective, which has a different mask token."""
    if rng.random() < 0.5:
        return blanks(tokens, vocab=vocab, rng=rng)
    return own_mask(other(tokens, vocab=vocab, rng=rng))


def whole_spans(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """BERT's input with the spans of GLM masked, one [MASK] per word."""
    hidden = [position + 1 for begin, stop in drawn(len(tokens), rng) for position in range(begin, stop)]
    return masked(tokens, vocab=vocab, rng=rng, select=hidden, corrupt=always_mask)


def glm() -> GLMPretraining:
    """GLM's network with random weights."""
    return GLMPretraining(GLMConfig(len(small_world_tokenizer()), TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                    attention_dropout=0.0))


def bert() -> BERTPretraining:
    """BERT's network of the same size."""
    return BERTPretraining(BERTConfig(len(small_world_tokenizer()), TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                      attention_dropout=0.0))


PAPER, IN_ORDER, LENGTH_KNOWN = "paper", "left-to-right order", "whole-text positions"
SENTINELS = "one sentinel per span"


class Arm(NamedTuple):
    """A variant: ``make`` samples the masked spans, as the paper's Example; ``shown`` converts this Example to the
    variant's input; ``long`` does the same for a blank that covers half of a text or all of it; ``ordered`` is true if
    blanks are always filled from left to right; ``length_known`` is true if positions in the whole text are given;
    ``against`` is the variant to compare with; and ``network`` creates the network."""

    make: Make
    shown: Show = as_it_is
    long: Show = as_it_is
    ordered: bool = False
    length_known: bool = False
    against: str = PAPER
    network: Callable[[], nn.Module] = glm

    @property
    def second(self) -> bool:
        """Whether a second objective is used for half of the texts."""
        return self.long is own_mask


ARMS: Mapping[str, Arm] = {
    PAPER: Arm(blanks),
    IN_ORDER: Arm(in_order, ordered=True),
    SENTINELS: Arm(blanks, sentinels, sentinels),
    "sentinels, no position": Arm(blanks, sentinels_alone, sentinels_alone, against=SENTINELS),
    "no intra-span positions": Arm(blanks, one_axis, one_axis),
    LENGTH_KNOWN: Arm(blanks, whole_text, whole_text, length_known=True),
    "consecutive positions": Arm(in_order, counting_on, counting_on, ordered=True, against=IN_ORDER),
    "with document blanks": Arm(partial(half, other=document_infilling), long=own_mask),
    "with sentence blanks": Arm(partial(half, other=sentence_infilling), long=own_mask),
    "BERT": Arm(partial(masked, rate=RATE), network=bert),
    "BERT, whole spans": Arm(whole_spans, network=bert),
}


def likeliest(logits: Tensor) -> Tensor:
    """The most probable token of each row."""
    return logits.argmax(-1)


@torch.no_grad()
def filled(model: nn.Module, shown: Show, texts: Sequence[Sequence[int]], places: Sequence[Places],
           choose: Callable[[Tensor], Tensor] = likeliest) -> list[list[list[int]]]:
    """For each text with one [MASK] per blank, the words generated for each blank; the blanks are filled in text order.

    Each word takes a full forward pass on the variant's input; `plmlab.models.infilling` is faster but supports only
    the variant of the paper. ``choose`` maps logits [rows vocab] to one token per row.
    """
    vocab = small_world_tokenizer().vocab
    never = torch.tensor(sorted(vocab.special - {vocab.need("end")}))
    generated: list[list[list[int]]] = [[[] for token in text if token == vocab.mask] for text in texts]
    blank, active = [0] * len(texts), list(range(len(texts)))
    while active:
        examples = [shown(infilled(texts[i], generated[i], range(len(generated[i])), vocab), places[i])
                    for i in active]
        last = [len(texts[i]) + sum(len(words) + 1 for words in generated[i][:blank[i]]) + len(generated[i][blank[i]])
                for i in active]
        logits = model(Batch.of(examples, pad=vocab.need("pad")))[torch.arange(len(active)), torch.tensor(last)]
        for i, token in zip(active, choose(logits.index_fill(-1, never, float("-inf"))).tolist(), strict=True):
            if token != vocab.end:
                generated[i][blank[i]].append(token)
            if token == vocab.end or len(generated[i][blank[i]]) == LONGEST:
                blank[i] += 1
        active = [i for i in active if blank[i] < len(generated[i])]
    return generated


def fillings(model: nn.Module, shown: Show, asked: Sequence[Row]) -> list[list[list[str]]]:
    """The words of each blank of the rows, generated by a variant with greedy decoding."""
    return in_words(filled(model, shown, [encoded(row.text) for row in asked], [places_of(row) for row in asked]))
