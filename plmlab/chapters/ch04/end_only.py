"""A parameter-matched baseline without attention over words: the decoder can attend only to [END]."""

import torch

from plmlab.example import Batch
from plmlab.models.seq2seq import AttentionState, GeneralSeq2Seq
from plmlab.visibility import AttentionMask


class EndOnlySeq2Seq(GeneralSeq2Seq):
    """`GeneralSeq2Seq` whose decoder can attend only to the last source position, at which the encoder has processed
    all words.

    The output is computed from that position's hidden state and the decoder state, with the same number of parameters
    as with attention. The model differs from attention only in the positions that are visible.
    """

    def start(self, source: Batch) -> AttentionState:
        """Encode the source and return the initial decoder state."""
        state, read = super().start(source), source.padding_mask.cumsum(-1)
        state.memory_mask = AttentionMask(keys=source.padding_mask & (read == torch.amax(read, -1, keepdim=True)))
        return state
