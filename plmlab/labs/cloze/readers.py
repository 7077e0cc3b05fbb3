"""Who reads a sentence with gaps: a model that sees both sides, one that reads from the left, and the best possible."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random

from torch import nn

from plmlab.example import Batch, Example
from plmlab.interpret.readable import inference, readable
from plmlab.objectives import causal
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.datasets.bayes_optimal import Distribution


@dataclass(frozen=True)
class MaskedSentence:
    """One sentence or two as BERT reads them, with the positions that are hidden, counted from [CLS] = 0.

    [CLS] A [SEP], or [CLS] A [SEP] B [SEP]. ``first`` and ``second`` hold the true words; where the reader typed
    [MASK], nobody knows one.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    vocab: Vocabulary
    hidden: tuple[int, ...] = ()

    @classmethod
    def of(cls, ids: Sequence[int], vocab: Vocabulary) -> "MaskedSentence":
        """The masked sentence of a typed text: a typed [SEP] ends the first sentence, a typed [MASK] is hidden."""
        sep = vocab.need("sep")
        end = list(ids).index(sep) if sep in ids else len(ids)
        gapped = cls(tuple(ids[:end]), tuple(ids[end + 1:]), vocab)
        return gapped.hiding([])

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of all positions, [CLS] and [SEP] among them, with the true words."""
        cls, sep = self.vocab.need("cls"), self.vocab.need("sep")
        return (cls, *self.first, sep, *self.second, *([sep] if self.second else []))

    @property
    def may_hide(self) -> list[int]:
        """The positions that hold words, or what is not in the vocabulary, or a typed [MASK]."""
        words = {self.vocab.unk, self.vocab.mask}
        return [position for position, id in enumerate(self.ids) if id in words or id not in self.vocab.special]

    def hiding(self, positions: Collection[int]) -> "MaskedSentence":
        """The same sentence with other positions hidden; what is no word stays in sight."""
        typed = {position for position, id in enumerate(self.ids) if id == self.vocab.mask}
        hidden = tuple(position for position in self.may_hide if position in typed or position in positions)
        return MaskedSentence(self.first, self.second, self.vocab, hidden)

    def true(self, position: int) -> int | None:
        """The word that stands at a position, None where the reader typed [MASK]."""
        return None if self.ids[position] == self.vocab.mask else self.ids[position]

    def filled(self, position: int, word: int) -> "MaskedSentence":
        """The same sentence with a word put into one gap, where all can see it."""
        ids = [word if place == position else id for place, id in enumerate(self.ids)]
        end = len(self.first) + 1
        return MaskedSentence(tuple(ids[1:end]), tuple(ids[end + 1:-1]), self.vocab,
                      tuple(other for other in self.hidden if other != position))

    def before(self, position: int) -> tuple[int, ...] | None:
        """The ids that stand before a position, hidden or not; None in the second sentence, or behind a typed
        [MASK]."""
        words = self.first[:position - 1]
        return None if position > len(self.first) or self.vocab.mask in words else words

    def cut(self, position: int) -> "MaskedSentence":
        """What stands before a position, and the position itself, hidden; nothing but [SEP] follows."""
        return MaskedSentence(self.first[:position], (), self.vocab, (position,))


def believed(model: nn.Module, sentences: Sequence[MaskedSentence]) -> list[dict[int, Distribution]]:
    """A model's distributions of the hidden positions of each sentence, each position by itself, in one forward pass:
    what a model of both sides believes, asked as its architecture is."""
    made = [readable(model).gaps(one.first, one.second, one.vocab, one.hidden) for one in sentences]
    found = said_at(model, [example for example, _ in made], [positions for _, positions in made])
    return [dict(zip(one.hidden, beliefs, strict=True)) for one, beliefs in zip(sentences, found, strict=True)]


def said_at(model: nn.Module, examples: Sequence[Example],
            positions: Sequence[Sequence[int]]) -> list[list[Distribution]]:
    """A model's distributions at some positions of each example: the softmax of its logits there, in one forward
    pass."""
    batch = Batch.of(examples, pad=0).to(next(model.parameters()).device)
    with inference(model):
        logits = readable(model).logits(batch)
        return [[logits[row, position].double().softmax(-1).cpu() for position in asked] for row,
                asked in enumerate(positions)]


class LeftReader:
    """One who has read only what stands before a position: a GPT, or else the model itself, its sentence cut.

    It has read the true words of gaps further left, as a language model has.
    """

    def __init__(self, model: nn.Module, left_only: nn.Module | None) -> None:
        self.model, self.left_only = model, left_only

    def beliefs(self, gapped: MaskedSentence) -> dict[int, Distribution]:
        """Hidden position → its distribution, given what stands before it; positions are left out where nobody knows
        that."""
        positions = [position for position in gapped.hidden if gapped.before(position) is not None]
        if not positions:
            return {}
        if self.left_only is None:
            found = believed(self.model, [gapped.cut(position) for position in positions])
            return {position: beliefs[position] for position, beliefs in zip(positions, found, strict=True)}
        read = causal(gapped.first[:positions[-1] - 1], vocab=gapped.vocab, rng=Random(0))
        [said] = said_at(self.left_only, [read], [[position - 1 for position in positions]])
        return dict(zip(positions, said, strict=True))
