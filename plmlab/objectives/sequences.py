"""Sequence to sequence (序列到序列): encode a source text, then generate a target text."""

from collections.abc import Sequence
from random import Random

import torch

from plmlab.example import IGNORE, Example, PairExample
from plmlab.objectives.causal import causal
from plmlab.objectives.registry import objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility


@objective(
    title="sequence to sequence (encoder–decoder)",
    chinese="序列到序列",
    paper="Vaswani et al. 2017, §3",
    question="Can the last encoder position attend to the first decoder position? And can the first decoder position "
             "attend to all encoder positions?",
    answer="No, and yes. The source is encoded before generation starts, so the encoder never attends to the decoder. "
           "Each decoder position attends to the whole source, and to the decoder positions up to itself: the block at "
           "the lower right is GPT's causal mask.",
    texts=2,
)
def sequence_to_sequence(source: Sequence[int], target: Sequence[int], *, vocab: Vocabulary,
                         rng: Random | None = None) -> PairExample:
    """The encoder's input is x₁ … x_n [END], with bidirectional attention; the decoder predicts the target.

    Each decoder position attends to itself, to earlier decoder positions and to the whole source (Sutskever et al.
    2014; Vaswani et al. 2017, §3). No token is corrupted; ``rng`` is not used.
    """
    return pair([*source, vocab.need("end")], causal(target, vocab=vocab, rng=Random(0)))


def pair(source: Sequence[int], decoder: Example) -> PairExample:
    """An encoder–decoder example: the encoder's input with bidirectional attention, and a decoder's input that attends
    to all of it."""
    tokens = torch.tensor(source)
    encoder = Example(tokens, torch.arange(len(tokens))[None], torch.zeros_like(tokens), Visibility.full(len(tokens)),
                      torch.full_like(tokens, IGNORE))
    return PairExample(encoder, decoder, Visibility.full(
        len(decoder.tokens), len(tokens), name="all of the source",
        why="{key} is in the source: every decoder position attends to all of the source."))


def causal_input(inputs: Sequence[int], targets: Sequence[int], position_ids: Sequence[int]) -> Example:
    """A decoder's input with causal attention and these position ids; ``targets`` are the tokens to predict, or
    IGNORE."""
    tokens = torch.tensor(inputs)
    return Example(tokens, torch.tensor(position_ids)[None], torch.zeros_like(tokens), Visibility.causal(len(tokens)),
                   torch.tensor(targets))
