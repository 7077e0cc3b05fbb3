"""Weight mapping between our MPNet and that of ``transformers``, whose position ids start at 2.

The ``transformers`` model always treats token 1 as padding, whatever the configuration specifies, and skips it when it
counts positions; in our vocabularies token 1 is [UNK]. For a text with [UNK], pass ``position_ids`` to that model; a
warning on conversion explains this.
"""

import warnings
from typing import TYPE_CHECKING, Any

from plmlab.hf.families import Family
from plmlab.hf.links import Link, affine, after_reserved, require
from plmlab.models.mpnet import MPNet, MPNetConfig, MPNetPretraining

if TYPE_CHECKING:
    from transformers import MPNetConfig as TheirConfig

RESERVED = 2
"""Number of reserved positions in ``transformers``: position 0 is never used, position 1 belongs to padding."""


def encoder_links(size: MPNetConfig) -> list[Link]:
    """Links of the weights of the embeddings, the relative position bias and the layers."""
    links = [
        Link("embeddings.token.weight", "mpnet.embeddings.word_embeddings.weight"),
        Link("embeddings.position.weight", "mpnet.embeddings.position_embeddings.weight", after_reserved(RESERVED)),
        *affine("embeddings.norm", "mpnet.embeddings.LayerNorm"),
        Link("distance.weight", "mpnet.encoder.relative_attention_bias.weight"),
    ]
    for i in range(size.layers):
        ours, theirs = f"layers.{i}", f"mpnet.encoder.layer.{i}"
        links += [
            *(link for name in "qkv" for link in affine(f"{ours}.attention.{name}", f"{theirs}.attention.attn.{name}")),
            *affine(f"{ours}.attention.out", f"{theirs}.attention.attn.o"),
            *affine(f"{ours}.attention_residual.norm", f"{theirs}.attention.LayerNorm"),
            *affine(f"{ours}.feed_forward.up", f"{theirs}.intermediate.dense"),
            *affine(f"{ours}.feed_forward.down", f"{theirs}.output.dense"),
            *affine(f"{ours}.feed_forward_residual.norm", f"{theirs}.output.LayerNorm"),
        ]
    return links


def our_size(config: "TheirConfig") -> MPNetConfig:
    """Convert a ``transformers`` configuration to ours. Raises ValueError for a setting that our model does not
    support, or that ``transformers`` itself ignores: its MPNet always has 32 buckets and a head with GELU."""
    require(config, relative_attention_num_buckets=32, hidden_act="gelu", tie_word_embeddings=True)
    return MPNetConfig(
        vocab=config.vocab_size, time=config.max_position_embeddings - RESERVED, layers=config.num_hidden_layers,
        model=config.hidden_size, heads=config.num_attention_heads, inner=config.intermediate_size,
        dropout=config.hidden_dropout_prob, attention_dropout=config.attention_probs_dropout_prob,
        eps=config.layer_norm_eps,
    )


def their_size(ours: MPNetConfig, **more: Any) -> "TheirConfig":
    """Convert our configuration to that of ``transformers``; ``more`` holds additional arguments. Raises ValueError
    unless there are 32 buckets and the activation is GELU."""
    from transformers import MPNetConfig as TheirConfig

    require(ours, "theirs", buckets=32, activation="gelu")
    warnings.warn("the MPNet of transformers treats token 1 as padding and skips it when it counts positions; in our "
                  f"vocabularies token 1 is [UNK]. For a text with [UNK], give it position_ids: {RESERVED} for the "
                  f"first token, {RESERVED + 1} for the second, …", stacklevel=5)
    return TheirConfig(
        vocab_size=ours.vocab, max_position_embeddings=ours.time + RESERVED, num_hidden_layers=ours.layers,
        hidden_size=ours.model, num_attention_heads=ours.heads, intermediate_size=ours.inner,
        hidden_dropout_prob=ours.dropout, attention_probs_dropout_prob=ours.attention_dropout,
        layer_norm_eps=ours.eps, **more,
    )


MPNETS = Family(
    MPNet, MPNetPretraining, ("MPNetModel", "MPNetForMaskedLM"), "encoder", our_size, their_size, encoder_links,
    pooler=affine("pooler", "mpnet.pooler.dense"),
    head=[*affine("transform", "lm_head.dense"), *affine("norm", "lm_head.layer_norm"), Link("bias", "lm_head.bias")],
    others=[],
    tied=[
        Link("encoder.embeddings.token.weight", "lm_head.decoder.weight"),
        Link("bias", "lm_head.decoder.bias"),
    ],
)
