"""The fair opponent of attention: the same weights, but nothing to look at except [END]."""

import torch

from plmlab.example import Batch
from plmlab.models.seq2seq import AttentionState, GeneralSeq2Seq
from plmlab.visibility import AttentionMask


class EndOnlySeq2Seq(GeneralSeq2Seq):
    """`GeneralSeq2Seq` that may look at the last position of the source alone, where all words have been read.

    What it says is made of that position's vector and of its own state, by as many weights as attention has. So it
    differs from attention by the positions that are in sight, and by nothing else.
    """

    def start(self, source: Batch) -> AttentionState:
        """Read the source, and be ready to write."""
        state, read = super().start(source), source.padding_mask.cumsum(-1)
        state.memory_mask = AttentionMask(keys=source.padding_mask & (read == torch.amax(read, -1, keepdim=True)))
        return state
