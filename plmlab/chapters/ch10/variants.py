"""Variants of Transformer-XL that each change one property: another positional encoding, or a memory that receives
gradients.
"""

from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.example import Batch
from plmlab.layers.attention import MultiHeadAttention
from plmlab.layers.memory import Memory
from plmlab.layers.positions import Sinusoidal
from plmlab.layers.stack import Stack
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig, TransformerXLEmbeddings
from plmlab.visibility import AttentionMask


class PlacedTokens(TransformerXLEmbeddings):
    """Token embeddings times √d, plus the sinusoidal encodings of their positions (Vaswani et al. 2017, §3.5)."""

    def __init__(self, config: TransformerXLConfig) -> None:
        super().__init__(config)
        self.sinusoid = Sinusoidal(config.model)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embeddings, one per position."""
        return super().forward(batch) + self.sinusoid(batch.position_ids[:, 0])


class NoPositionTransformerXL(TransformerXL):
    """A Transformer-XL without positional encodings: only the causal mask distinguishes earlier from later
    positions."""

    attention_class = MultiHeadAttention  # type: ignore[assignment]


class AbsolutePositionTransformerXL(TransformerXL):
    """A Transformer-XL with absolute positions, given by the position ids of the batch."""

    embeddings_class = PlacedTokens
    attention_class = MultiHeadAttention  # type: ignore[assignment]


class AbsoluteTransformerXL(AbsolutePositionTransformerXL):
    """Absolute positions that restart in each segment. A position in the memory and one in the current segment have the
    same encoding if both are at the same index of their segments (Dai et al. 2019, §3.3)."""

    def hidden_states(self, batch: Batch, memories: list[Memory] | None = None,  # type: ignore[override]
                      ) -> Float[Tensor, "batch time model"]:
        """Final hidden states, one per position."""
        return super().hidden_states(replace(batch, position_ids=batch.position_ids % self.config.segment), memories)

    def following(self, tokens: Int[Tensor, "batch time"], before: int) -> Batch:
        """The batch of a segment that follows ``before`` positions of memory, with its attention mask; its position ids
        start at 0."""
        return replace(super().following(tokens, before), position_ids=Batch.continuing(tokens, 0).position_ids)


class ContinuedPositionTransformerXL(AbsolutePositionTransformerXL):
    """Absolute positions that continue across segments, from the first word of the text to the last."""

    def hidden_states(self, batch: Batch, memories: list[Memory] | None = None,  # type: ignore[override]
                      ) -> Float[Tensor, "batch time model"]:
        """Final hidden states, one per position, of a complete text. Raises ValueError if ``memories`` are given,
        because they do not record the number of words before them."""
        refuse(memories)
        if not batch.visible.only_causal:
            return super().hidden_states(batch)
        memories = self.start().memories
        outputs, begin = [], 0
        for tokens in batch.tokens.split(self.config.segment, dim=1):
            segment = self.following(tokens, memories[0].time)
            position_ids = Batch.continuing(tokens, begin).position_ids
            outputs.append(Stack.hidden_states(self, replace(segment, position_ids=position_ids), memories))
            begin += tokens.shape[1]
        return torch.cat(outputs, dim=1)


class TransformerXLWithGradient(TransformerXL):
    """A Transformer-XL whose memory receives gradients: the text is processed in one pass, under the attention mask
    that is equivalent to segments and memory. The hidden states are the same, but gradients flow back to the positions
    in the memory."""

    def hidden_states(self, batch: Batch, memories: list[Memory] | None = None,  # type: ignore[override]
                      ) -> Float[Tensor, "batch time model"]:
        """Final hidden states, one per position, of a complete text. Raises ValueError if ``memories`` are given,
        because no gradient flows into them."""
        refuse(memories)
        if batch.visible.only_causal:
            mask = self.visibility(batch.size[1]).dense().to(batch.tokens.device)
            batch = replace(batch, visible=AttentionMask(pairs=mask[None]))
        return super().hidden_states(batch)


def refuse(memories: object) -> None:
    """Raise ValueError if memories are passed to a model that can only process whole texts."""
    if memories is not None:
        raise ValueError("this model processes a text from its beginning, in one call; it can't continue from memories")


def averaged_over_memory(term: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
    """Replace a term of the scores at all memory positions, which are the first keys, by its mean over them."""
    memory = term.shape[-1] - term.shape[-2]
    if not memory:
        return term
    mean = term[..., :memory].mean(-1, keepdim=True).expand_as(term[..., :memory])
    return torch.cat([mean, term[..., memory:]], -1)


def gradient_of_first_segment(kind: type[TransformerXL]) -> float:
    """The norm of the gradient that the word embeddings of a first segment receive from the output of the second."""
    torch.manual_seed(0)
    model = kind(TransformerXLConfig(30, segment=4, memory=4, layers=2, model=16, heads=2, inner=64, dropout=0.0))
    out = model.hidden_states(Batch.continuing(torch.arange(8)[None], 0))[:, 4:]  # eight different words
    (out * torch.randn(out.shape)).sum().backward()
    gradient = model.embeddings.token.weight.grad
    assert gradient is not None
    return float(gradient[:4].norm())


def affects_last_position(model: TransformerXL, text: Int[Tensor, "1 time"], changed: Int[Tensor, "1 time"]) -> bool:
    """Whether the last position's output, processed in segments, differs between a text and its changed version."""
    with torch.no_grad():
        before, after = (model.hidden_states(Batch.continuing(row, 0))[0, -1] for row in (text, changed))
    return not torch.allclose(before, after, atol=1e-5)
