"""A parameter-matched baseline without attention over words: the decoder can attend to [END] only."""

import torch

from plmlab.example import Batch
from plmlab.models.seq2seq import AttentionState, GeneralSeq2Seq
from plmlab.visibility import AttentionMask


class EndOnlySeq2Seq(GeneralSeq2Seq):
    """A `GeneralSeq2Seq` whose decoder can attend only to the last source position, where the encoder has processed all
    words.

    The output is computed from the hidden state of that position and the decoder state, with the same number of
    parameters as with attention. The model differs from the one with attention only in the visible positions.
    """

    def start(self, source: Batch) -> AttentionState:
        """Encode the source and return the initial decoder state."""
        state, read = super().start(source), source.padding_mask.cumsum(-1)
        state.memory_mask = AttentionMask(keys=source.padding_mask & (read == torch.amax(read, -1, keepdim=True)))
        return state
