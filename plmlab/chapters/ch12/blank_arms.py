"""GLM's objective and what its paper takes away from it, an arm each; and two BERTs; on the small world's sentences.

Each arm is the paper's but for one thing:

- *left to right*: the blanks are filled in the order of the text, not in a random one;
- *a sentinel a span*: the blank that is filled first is [X0], the next [X1], where the paper has [MASK] for all; in
  Part B each begins with its sentinel, in the place of [START];
- *sentinels without places*: and Part B does not say where a blank stands (the authors' code, which has tokens of its
  own to begin with; in T5 the sentinel begins the span, as here);
- *one axis*: the second position only tells Part B from Part A. A position knows which blank it fills, and not how far
  it has come in it, but by the words that it sees;
- *places of the whole text*: one axis, on which each word, hidden or in sight, has its place in the whole text, as in
  XLNet. So the words behind a blank tell how long it is; those of a blank at the end do not;
- *counting on*: one axis, on which Part B goes on where Part A ends. Nothing but their order tells which blank is
  filled, so they are filled from left to right: to be compared with *left to right*;
- *with documents*, *with sentences*: one text in two is read by a second objective (§2.1.2), its blank a mask of its
  own kind (the authors' code), so that nobody has to guess which objective it is. A text of the small world is one
  sentence, so that the second of these hides all of it.

On one axis a second number still tells Part B from Part A, as in the authors' code.

BERT hides three words in ten, one by one; *BERT, whole spans* the spans that GLM hides, each word a [MASK].
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
"""The most words that are written in a blank: as many as the longest sentence has."""
Make = Callable[..., Example]
"""(tokens, *, vocab, rng) → Example."""
Places = Sequence[int]
"""For each position of Part A its place in the whole text, from 1; of a blank that of its first word."""
Show = Callable[[Example, Places | None], Example]
"""An Example of the paper's → the arm's. Places are given where a blank is still being filled, so that the Example
does not tell how long it is."""


def as_it_is(example: Example, places: Places | None = None) -> Example:
    """The paper's."""
    return example


def own_places(example: Example) -> list[int]:
    """The places of Part A in the whole text, of an Example that shows all that was hidden."""
    first, second = example.position_ids.tolist()
    positions = [place for place, inside in zip(first, second, strict=True) if inside]
    found, place = [], 1
    for position in range(1, second.count(0) + 1):
        found.append(place)
        place += positions.count(position) - 1 if position in positions else 1
    return found


def on_one_axis(example: Example, where: Tensor) -> Example:
    """An Example with these places; the second position tells Part B (1) from Part A (0)."""
    return replace(example, position_ids=torch.stack([where, example.position_ids[1].clamp(max=1)]))


def one_axis(example: Example, places: Places | None = None) -> Example:
    """The places of Part A alone."""
    return on_one_axis(example, example.position_ids[0])


def whole_text(example: Example, places: Places | None = None) -> Example:
    """The places of the whole text; a position of a blank has the place of the word that it says."""
    first, inside = example.position_ids
    where = torch.tensor([0, *(own_places(example) if places is None else places)])[first] + (inside - 1).clamp(min=0)
    return on_one_axis(example, where)


def counting_on(example: Example, places: Places | None = None) -> Example:
    """Part B goes on behind Part A."""
    return on_one_axis(example, torch.arange(1, len(example.tokens) + 1))


def sentinels(example: Example, places: Places | None = None) -> Example:
    """A sentinel for each blank, in the order in which they are filled, there and where it begins."""
    tokens, (first, inside) = example.tokens.clone(), example.position_ids
    for number, start in enumerate((inside == 1).nonzero().flatten().tolist()):
        tokens[first[start] - 1] = tokens[start] = small_world_tokenizer().vocab.sentinels[number]
    return replace(example, tokens=tokens)


def sentinels_alone(example: Example, places: Places | None = None) -> Example:
    """The same, and Part B does not say where it stands (place 0)."""
    first, inside = example.position_ids
    return replace(sentinels(example), position_ids=torch.stack([first * (inside == 0), inside]))


def own_mask(example: Example, places: Places | None = None) -> Example:
    """The paper's, with a mask of another kind in the place of [MASK]: what a second objective hides."""
    vocab = small_world_tokenizer().vocab
    return replace(example, tokens=example.tokens.where(example.tokens != vocab.need("mask"), vocab.sentinels[-1]))


blanks = partial(blank_infilling, rate=RATE)


def in_order(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """Blanks that are filled from left to right."""
    spans = drawn(len(tokens), rng)
    return blank_infilling(tokens, vocab=vocab, rng=rng, spans=spans, order=range(len(spans)))


def half(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, other: Make) -> Example:
    """Blanks one time in two, else the other objective, with its own mask."""
    if rng.random() < 0.5:
        return blanks(tokens, vocab=vocab, rng=rng)
    return own_mask(other(tokens, vocab=vocab, rng=rng))


def whole_spans(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """BERT's text with GLM's spans hidden, a [MASK] a word."""
    hidden = [position + 1 for begin, stop in drawn(len(tokens), rng) for position in range(begin, stop)]
    return masked(tokens, vocab=vocab, rng=rng, select=hidden, corrupt=always_mask)


def glm() -> GLMPretraining:
    """GLM's network with random weights."""
    return GLMPretraining(GLMConfig(len(small_world_tokenizer()), TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                    attention_dropout=0.0))


def bert() -> BERTPretraining:
    """BERT's, of the same size."""
    return BERTPretraining(BERTConfig(len(small_world_tokenizer()), TIME, LAYERS, WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                      attention_dropout=0.0))


PAPER, IN_ORDER, TOLD = "the paper's", "left to right", "places of the whole text"
SENTINELS = "a sentinel a span"


class Arm(NamedTuple):
    """What is hidden, in the paper's Examples; how the arm shows it; how it is shown a blank that half of a text or all
    of it is to be written in; whether blanks are always filled from left to right; whether the places of the whole text
    are told; with which arm it is compared; and its network."""

    make: Make
    shown: Show = as_it_is
    long: Show = as_it_is
    ordered: bool = False
    told: bool = False
    against: str = PAPER
    network: Callable[[], nn.Module] = glm

    @property
    def second(self) -> bool:
        """Whether half of the texts are read by a second objective."""
        return self.long is own_mask


ARMS: Mapping[str, Arm] = {
    PAPER: Arm(blanks),
    IN_ORDER: Arm(in_order, ordered=True),
    SENTINELS: Arm(blanks, sentinels, sentinels),
    "sentinels without places": Arm(blanks, sentinels_alone, sentinels_alone, against=SENTINELS),
    "one axis": Arm(blanks, one_axis, one_axis),
    TOLD: Arm(blanks, whole_text, whole_text, told=True),
    "counting on": Arm(in_order, counting_on, counting_on, ordered=True, against=IN_ORDER),
    "with documents": Arm(partial(half, other=document_infilling), long=own_mask),
    "with sentences": Arm(partial(half, other=sentence_infilling), long=own_mask),
    "BERT": Arm(partial(masked, rate=RATE), network=bert),
    "BERT, whole spans": Arm(whole_spans, network=bert),
}


def likeliest(logits: Tensor) -> Tensor:
    """The likeliest token of each row."""
    return logits.argmax(-1)


@torch.no_grad()
def filled(model: nn.Module, shown: Show, texts: Sequence[Sequence[int]], places: Sequence[Places],
           choose: Callable[[Tensor], Tensor] = likeliest) -> list[list[list[int]]]:
    """For each text, with a [MASK] a blank, the words of each blank, in the order of the text and filled in it.

    All is read anew for each word, as the arm shows it; `plmlab.models.infilling` is quicker, and knows the paper's
    alone. ``choose`` makes of logits [rows vocab] a token each.
    """
    vocab = small_world_tokenizer().vocab
    never = torch.tensor(sorted(vocab.special - {vocab.need("end")}))
    said: list[list[list[int]]] = [[[] for token in text if token == vocab.mask] for text in texts]
    at, going = [0] * len(texts), list(range(len(texts)))
    while going:
        read = [shown(infilled(texts[i], said[i], range(len(said[i])), vocab), places[i]) for i in going]
        positions = [len(texts[i]) + sum(len(words) + 1 for words in said[i][:at[i]]) + len(said[i][at[i]])
                     for i in going]
        logits = model(Batch.of(read, pad=vocab.need("pad")))[torch.arange(len(going)), torch.tensor(positions)]
        for i, token in zip(going, choose(logits.index_fill(-1, never, float("-inf"))).tolist(), strict=True):
            if token != vocab.end:
                said[i][at[i]].append(token)
            if token == vocab.end or len(said[i][at[i]]) == LONGEST:
                at[i] += 1
        going = [i for i in going if at[i] < len(said[i])]
    return said


def fillings(model: nn.Module, shown: Show, asked: Sequence[Row]) -> list[list[list[str]]]:
    """The words of each blank of rows, as an arm fills them, greedily."""
    return in_words(filled(model, shown, [encoded(row.text) for row in asked], [places_of(row) for row in asked]))
