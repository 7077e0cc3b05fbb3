"""The "Autoregressive Transformer", AT, of a study note on a "Fast Autoregressive Transformer", without a known paper.

The name is misleading: AT is a recurrent encoder–decoder with additive attention. Repairs, each the smallest with which
the equation can be evaluated:

- w̃ = softmax(Linear(ReLU(W h_{t−1} + U h̄_t + X y_{t−1}))) has no source position, so there is nothing to normalize
  over. Here, h̄ is the encoder output h_j, and the softmax is over the source positions j.
- Eq. 1, y_t = MLP(E(y_{t−1}) ⊙ α_{t−1}), multiplies a vector of the model's width by one with an element per source
  position. Here, α is replaced by the context Σ_j α_j h_j.
- σ(w̃) in the loss is not a distribution over tokens. Here, the loss is the cross-entropy of the softmax of the MLP.
- No equation computes the decoder state h_t. Here, it is an LSTM whose input is E(y_{t−1}), initialized with the
  encoder's final state, as in `plmlab.models.seq2seq`.

The weights with index t − 1 are computed from h_{t−1} and y_{t−1}, as in the equation of w̃. Source and target share one
vocabulary. The hidden layer of the MLP has ReLU and no bias; the note states neither.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.layers.alignment import WordAlignment
from plmlab.models.architectures import ENCODER_DECODER
from plmlab.models.registry import model
from plmlab.models.seq2seq import AttentionSeq2Seq, Seq2SeqConfig, Seq2SeqState


@model("at", Seq2SeqConfig, ENCODER_DECODER)
class AT(AttentionSeq2Seq):
    """Autoregressive Transformer (a study note, no paper): an LSTM encoder–decoder whose attention weights also depend
    on the previous target token, and whose output depends on that token and the context only."""

    alignment_class = WordAlignment
    cross_attention: WordAlignment

    @property
    def combined_inputs(self) -> int:
        """The input width of the MLP's hidden layer."""
        return self.config.model

    def decode(self, tokens: Int[Tensor, "batch time"], state: Seq2SeqState) -> Float[Tensor, "batch time model"]:
        """Hidden layer of the output MLP at the next target positions; updates ``state`` in place."""
        words, before = self.embed(tokens), state.carried[0][-1][:, None]
        outputs, state.carried = self.decoder(words, None, state.carried)
        previous = torch.cat([before, outputs[:, :-1]], 1)  # h_{t−1}, [batch time model]
        return self.combined(self.attend(self.cross_attention.query(previous, words), state), words)

    def combined(self, context: Float[Tensor, "batch time model"], outputs: Float[Tensor, "batch time model"],
                 ) -> Float[Tensor, "batch time model"]:
        """Hidden layer of the MLP, ReLU(W(E(y_{t−1}) ⊙ context)); ``outputs`` are the embeddings E(y_{t−1})."""
        return self.dropout(self.combine(outputs * context).relu())
