"""Sequence to sequence (序列到序列): read one text to its end, then write another."""

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
    question="May the encoder's last position look at the decoder's first? And may the decoder's first look at all of "
             "the "
             "encoder's?",
    answer="No, and yes. The source is read to its end before a word is written, so no position of the encoder sees "
           "what "
           "the decoder writes. Each position of the decoder sees the whole source, and of its own text only what it "
           "has "
           "written: the square at the lower right is GPT's mask.",
    texts=2,
)
def sequence_to_sequence(source: Sequence[int], target: Sequence[int], *, vocab: Vocabulary,
                         rng: Random | None = None) -> PairExample:
    """The encoder reads x₁ … x_n [END], all of it at once; the decoder writes the target, one token at a time.

    Each position of the decoder sees what was written before it, and all of the source (Sutskever et al. 2014;
    Vaswani et al. 2017, §3). Nothing is damaged, so nothing is drawn from ``rng``.
    """
    read = torch.tensor([*source, vocab.need("end")])
    reads = Example(read, torch.arange(len(read))[None], torch.zeros_like(read), Visibility.full(len(read)),
                    torch.full_like(read, IGNORE))
    writes = causal(target, vocab=vocab, rng=Random(0))
    return PairExample(reads, writes, Visibility.full(
        len(writes.tokens), len(read), name="all of the source",
        why="{key} was read before {query} was written: the decoder may look at all of the source."))
