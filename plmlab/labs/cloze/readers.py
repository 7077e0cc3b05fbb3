"""Predictions for a masked sentence, from both sides and from the left context only."""

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
    """One or two sentences in BERT's input format, with the masked positions ([CLS] is position 0).

    [CLS] A [SEP], or [CLS] A [SEP] B [SEP]. ``first`` and ``second`` hold the original words; for a typed [MASK], the
    original word is unknown.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    vocab: Vocabulary
    hidden: tuple[int, ...] = ()

    @classmethod
    def of(cls, ids: Sequence[int], vocab: Vocabulary) -> "MaskedSentence":
        """Parse a typed text: the first [SEP] ends the first sentence, and each typed [MASK] is masked."""
        sep = vocab.need("sep")
        end = list(ids).index(sep) if sep in ids else len(ids)
        gapped = cls(tuple(ids[:end]), tuple(ids[end + 1:]), vocab)
        return gapped.hiding([])

    @property
    def ids(self) -> tuple[int, ...]:
        """All token ids, including [CLS] and [SEP], with the original words."""
        cls, sep = self.vocab.need("cls"), self.vocab.need("sep")
        return (cls, *self.first, sep, *self.second, *([sep] if self.second else []))

    @property
    def may_hide(self) -> list[int]:
        """The positions that can be masked: words, [UNK] and typed [MASK]s."""
        words = {self.vocab.unk, self.vocab.mask}
        return [position for position, id in enumerate(self.ids) if id in words or id not in self.vocab.special]

    def hiding(self, positions: Collection[int]) -> "MaskedSentence":
        """The same sentence with these positions masked instead; special tokens stay visible."""
        typed = {position for position, id in enumerate(self.ids) if id == self.vocab.mask}
        hidden = tuple(position for position in self.may_hide if position in typed or position in positions)
        return MaskedSentence(self.first, self.second, self.vocab, hidden)

    def true(self, position: int) -> int | None:
        """The original word at a position; None for a typed [MASK]."""
        return None if self.ids[position] == self.vocab.mask else self.ids[position]

    def filled(self, position: int, word: int) -> "MaskedSentence":
        """The same sentence with one mask replaced by a word."""
        ids = [word if place == position else id for place, id in enumerate(self.ids)]
        end = len(self.first) + 1
        return MaskedSentence(tuple(ids[1:end]), tuple(ids[end + 1:-1]), self.vocab,
                              tuple(other for other in self.hidden if other != position))

    def before(self, position: int) -> tuple[int, ...] | None:
        """The original ids before a position; None in the second sentence, or after a typed [MASK]."""
        words = self.first[:position - 1]
        return None if position > len(self.first) or self.vocab.mask in words else words

    def cut(self, position: int) -> "MaskedSentence":
        """The sentence truncated after a position, which is masked and followed only by [SEP]."""
        return MaskedSentence(self.first[:position], (), self.vocab, (position,))


def believed(model: nn.Module, sentences: Sequence[MaskedSentence]) -> list[dict[int, Distribution]]:
    """A model's predicted distributions at the masked positions of each sentence, independent of each other and
    computed in one forward pass. The input has the format of the model's architecture."""
    inputs = [readable(model).cloze_input(one.first, one.second, one.vocab, one.hidden) for one in sentences]
    predicted = said_at(model, [example for example, _ in inputs], [positions for _, positions in inputs])
    return [dict(zip(one.hidden, beliefs, strict=True)) for one, beliefs in zip(sentences, predicted, strict=True)]


def said_at(model: nn.Module, examples: Sequence[Example],
            positions: Sequence[Sequence[int]]) -> list[list[Distribution]]:
    """A model's predicted distributions at the given positions of each example, in one forward pass."""
    batch = Batch.of(examples, pad=0).to(next(model.parameters()).device)
    with inference(model):
        logits = readable(model).logits(batch)
        return [[logits[row, position].double().softmax(-1).cpu() for position in targets] for row,
                targets in enumerate(positions)]


class LeftReader:
    """Predictions from the left context only, by a GPT or by the model itself on the truncated sentence.

    As in a language model, masked words further left appear in the context as their original words.
    """

    def __init__(self, model: nn.Module, left_only: nn.Module | None) -> None:
        self.model, self.left_only = model, left_only

    def beliefs(self, gapped: MaskedSentence) -> dict[int, Distribution]:
        """Map each masked position to its distribution given the left context; positions whose left context is unknown
        are omitted."""
        positions = [position for position in gapped.hidden if gapped.before(position) is not None]
        if not positions:
            return {}
        if self.left_only is None:
            truncated = believed(self.model, [gapped.cut(position) for position in positions])
            return {position: beliefs[position] for position, beliefs in zip(positions, truncated, strict=True)}
        example = causal(gapped.first[:positions[-1] - 1], vocab=gapped.vocab, rng=Random(0))
        [predicted] = said_at(self.left_only, [example], [[position - 1 for position in positions]])
        return dict(zip(positions, predicted, strict=True))
