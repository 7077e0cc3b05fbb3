"""MASS (Song et al. 2019): an encoder–decoder pretrained to predict one masked span of a text.

The network is that of the authors' code (`plmlab.models.learned_positions`). The objective is
`plmlab.objectives.masked_span`; a text is delimited by [START] and [END] on both sides. Differences from that code:
there is one language, so no language embeddings and no output projection per language in cross-attention; encoder and
decoder share one token embedding, as in the authors' code for summarization; weights are initialized as in
`Transformer`, the projections not with PyTorch's default.
"""

from dataclasses import dataclass
from typing import Self

from plmlab.models.architectures import encoder_decoder
from plmlab.models.learned_positions import LearnedPositionConfig, LearnedPositionTransformer
from plmlab.models.registry import Pretraining, model
from plmlab.objectives.masked_span import delimited_pair, masked_span
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class MASSConfig(LearnedPositionConfig):
    """Configuration of a MASS; ``time`` is the number of learned positions of each side."""

    @classmethod
    def base(cls) -> Self:
        """The paper's model for translation (§4.1), with a vocabulary of its 60,000 subwords and the 8 heads of the
        authors' README: 239 million parameters. The paper gives no count."""
        return cls(vocab=60_000, layers=6, model=1024, heads=8, inner=4096)


MASS_ENCODER_DECODER = encoder_decoder(delimited_pair)
"""[START] A [END] for the encoder, [START] B for the decoder."""


@model("mass", MASSConfig, MASS_ENCODER_DECODER,
       Pretraining("mass", masked_span, Tokenizer.wordpiece, added=2, likelihood=False))
class MASS(LearnedPositionTransformer):
    """MASS: the Transformer with learned positions and an output bias."""
