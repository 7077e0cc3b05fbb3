"""Sequence to sequence (序列到序列): read one text to its end, then write another."""

from collections.abc import Sequence
from random import Random

import torch

from plmlab.example import IGNORE, Example, PairExample
from plmlab.objectives.causal import causal
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility


def sequence_to_sequence(source: Sequence[int], target: Sequence[int], *, vocab: Vocabulary) -> PairExample:
    """The encoder reads x₁ … x_n [END], all of it at once; the decoder writes the target, one token at a time.

    Each slot of the decoder sees what was written before it, and all of the source (Sutskever et al. 2014;
    Vaswani et al. 2017, §3). Nothing is damaged, so nothing is drawn.
    """
    read = torch.tensor([*source, vocab.need("end")])
    reads = Example(read, torch.arange(len(read))[None], torch.zeros_like(read), Visibility.full(len(read)),
                    torch.full_like(read, IGNORE))
    writes = causal(target, vocab=vocab, rng=Random(0))
    return PairExample(reads, writes, Visibility.full(len(writes.tokens), len(read)))
