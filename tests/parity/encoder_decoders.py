"""What the parity tests of T5, BART and PEGASUS share: theirs with random weights, and the same batch for both."""

from dataclasses import dataclass
from typing import Any

import torch
from parity.alike import shaken
from torch import Tensor, nn
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
    T5ForConditionalGeneration,
)
from transformers import T5Config as TheirT5Config

from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.visibility import AttentionMask

VOCAB, PAD, START, END = 60, 0, 5, 6
T5S = {"vocab_size": VOCAB, "pad_token_id": PAD, "eos_token_id": END, "decoder_start_token_id": START,
       "dropout_rate": 0.0}
BARTS = {"vocab_size": VOCAB, "pad_token_id": PAD, "eos_token_id": END, "bos_token_id": START, "dropout": 0.0,
         "decoder_start_token_id": END, "forced_eos_token_id": None}
PEGASUSES = {"vocab_size": VOCAB, "pad_token_id": PAD, "eos_token_id": END, "decoder_start_token_id": PAD,
             "dropout": 0.0, "forced_eos_token_id": None, "activation_function": "relu", "scale_embedding": True}
V11: dict[str, Any] = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
SIZES: dict[str, list[dict[str, int]]] = {
    "t5": [{"d_model": 12, "d_kv": 5, "d_ff": 20, "num_layers": 2, "num_heads": 3, "relative_attention_num_buckets": 8},
           {"d_model": 7, "d_kv": 3, "d_ff": 11, "num_layers": 1, "num_heads": 1}],
    "bart": [{"d_model": 12, "encoder_layers": 2, "encoder_attention_heads": 3, "encoder_ffn_dim": 20},
             {"d_model": 7, "encoder_layers": 1, "encoder_attention_heads": 1, "encoder_ffn_dim": 11}],
    "pegasus": [{"d_model": 12, "encoder_layers": 2, "encoder_attention_heads": 3, "encoder_ffn_dim": 20},
                {"d_model": 10, "encoder_layers": 1, "encoder_attention_heads": 1, "encoder_ffn_dim": 11}],
}
NAMES = ("t5", "t5-v1_1", "bart", "pegasus")
KINDS = [(kind, size) for kind in NAMES for size in (0, 1)]
CLOSE = {"t5": 1e-6, "t5-v1_1": 1e-6, "bart": 1e-10, "pegasus": 1e-10}
"""Their T5 takes the mean square of its norms in float32, whatever the weights are."""


def theirs_of(kind: str, size: int = 0, seed: int = 0, time: int = 40) -> Any:
    """Theirs, in float64, with all weights random, except the positional encodings of PEGASUS; the output layer of v1.1
    is untied by hand, as their configuration alone does not do it."""
    sizes = SIZES[kind.removesuffix("-v1_1")][size]
    both = {name.replace("encoder", "decoder"): value for name, value in sizes.items()} | sizes
    if kind == "pegasus":
        made: Any = PegasusForConditionalGeneration(PegasusConfig(**PEGASUSES, **both, max_position_embeddings=time))
        encodings = made.model.encoder.embed_positions.weight.detach().clone()
        shaken(made, seed)
        for side in (made.model.encoder, made.model.decoder):
            side.embed_positions.weight.copy_(encodings)
        return made
    if kind == "bart":
        made = BartForConditionalGeneration(BartConfig(**BARTS, **both, max_position_embeddings=time))
        shaken(made, seed).final_logits_bias += torch.linspace(-1, 1, VOCAB).double()
        return made
    made = T5ForConditionalGeneration(TheirT5Config(**T5S, **sizes, **(V11 if kind == "t5-v1_1" else {})))
    if kind == "t5-v1_1":
        made.lm_head.weight = nn.Parameter(made.lm_head.weight.detach().clone())
    return shaken(made, seed)


@dataclass(frozen=True)
class Rows:
    """Token ids of some rows, and which of them are real."""

    tokens: Tensor
    real: Tensor

    @classmethod
    def of(cls, lengths: list[int], side: str, seed: int) -> "Rows":
        """Random rows of these lengths, padded on the "right", on the "left", or on "both" sides."""
        longest = max(lengths) + (2 if side == "both" else 0)
        before = torch.tensor([{"right": 0, "left": longest - n, "both": (longest - n) // 2}[side] for n in lengths])
        place = torch.arange(longest) - before[:, None]
        real = (place >= 0) & (place < torch.tensor(lengths)[:, None])
        tokens = torch.randint(7, VOCAB, real.shape, generator=torch.Generator().manual_seed(seed))
        return cls(tokens.masked_fill(~real, PAD), real)

    @property
    def targets(self) -> Tensor:
        """The next token at each real position; IGNORE where there is none."""
        following = torch.cat([self.tokens[:, 1:], torch.full_like(self.tokens[:, :1], PAD)], 1)
        return following.masked_fill(~self.real | (following == PAD), IGNORE)

    def batch(self, causal: bool = False) -> Batch:
        """As ours read them."""
        return Batch(self.tokens, torch.arange(self.tokens.shape[1])[None, None], torch.zeros_like(self.tokens),
                     AttentionMask(causal=causal, keys=self.real),
                     self.targets if causal else torch.full_like(self.tokens, IGNORE))


def both_read(theirs: Any, source: Rows, target: Rows) -> tuple[PairBatch, Any]:
    """The batch for ours, and what theirs answer to the same."""
    batch = PairBatch(source.batch(), target.batch(causal=True), AttentionMask(keys=source.real))
    return batch, theirs(source.tokens, attention_mask=source.real.long(), decoder_input_ids=target.tokens,
                         decoder_attention_mask=target.real.long(), labels=target.targets)
