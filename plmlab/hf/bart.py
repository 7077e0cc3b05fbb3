"""Weight mapping between our BART and that of ``transformers``, whose position tables begin with two unused rows."""

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from torch import Tensor

from plmlab.hf.links import (
    Link,
    activation,
    affine,
    after_reserved,
    filled,
    loaded,
    or_zeros,
    rearranged,
    require,
    to_ours,
    to_theirs,
)
from plmlab.models.bart import BART, BARTConfig
from plmlab.weights import weights

if TYPE_CHECKING:
    from transformers import BartConfig, BartForConditionalGeneration

RESERVED = 2
"""Number of unused rows before the first position."""
OUTPUT_BIAS = [Link("output_bias", "final_logits_bias", rearranged("1 vocab -> vocab"))]
"""The bias of the output layer, which a bare ``BartModel`` lacks."""


def links_of(layers: int) -> list[Link]:
    """Links of all weights except the output bias, relative to ``BartForConditionalGeneration``."""
    links = [Link("token.weight", "model.shared.weight"), *layer_links(layers)]
    for side in ("encoder", "decoder"):
        links += [Link(f"{side}.embeddings.position.weight", f"model.{side}.embed_positions.weight",
                       after_reserved(RESERVED)),
                  *affine(f"{side}.embeddings.norm", f"model.{side}.layernorm_embedding")]
    return links


def layer_links(layers: int) -> list[Link]:
    """Links of the layers of both sides, whose names are the same in all relatives of BART."""
    links = []
    for side, i in product(("encoder", "decoder"), range(layers)):
        ours, theirs = f"{side}.layers.{i}", f"model.{side}.layers.{i}"
        attention = {"attention": "self_attn", "cross_attention": "encoder_attn"}
        if side == "encoder":
            del attention["cross_attention"]
        for part, name in attention.items():
            for own in ("q", "k", "v", "out"):
                links += affine(f"{ours}.{part}.{own}", f"{theirs}.{name}.{own}_proj")
            links += affine(f"{ours}.{part}_residual.norm", f"{theirs}.{name}_layer_norm")
        links += [*affine(f"{ours}.feed_forward.up", f"{theirs}.fc1"),
                  *affine(f"{ours}.feed_forward.down", f"{theirs}.fc2"),
                  *affine(f"{ours}.feed_forward_residual.norm", f"{theirs}.final_layer_norm")]
    return links


def our_sizes(config: Any) -> dict[str, Any]:
    """The arguments of our configuration that all relatives of BART have. Raises ValueError unless both sides have the
    same layers and the output layer is tied."""
    require(config, decoder_layers=config.encoder_layers, decoder_attention_heads=config.encoder_attention_heads,
            decoder_ffn_dim=config.encoder_ffn_dim, tie_word_embeddings=True)
    return {"vocab": config.vocab_size, "layers": config.encoder_layers, "model": config.d_model,
            "heads": config.encoder_attention_heads, "inner": config.encoder_ffn_dim, "dropout": config.dropout,
            "attention_dropout": config.attention_dropout, "start": config.decoder_start_token_id}


def their_sizes(ours: Any) -> dict[str, Any]:
    """The arguments of their configuration that correspond to `our_sizes`."""
    return {"vocab_size": ours.vocab, "d_model": ours.model, "dropout": ours.dropout,
            "attention_dropout": ours.attention_dropout, "decoder_start_token_id": ours.start,
            **{f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in (
                ("layers", ours.layers), ("attention_heads", ours.heads), ("ffn_dim", ours.inner))}}


def with_tied(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Their weights with the copies of the token embedding that they list."""
    copies = ("model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head")
    return state | {f"{name}.weight": state["model.shared.weight"] for name in copies}


def read_bart(config: "BartConfig", theirs: Mapping[str, Tensor]) -> BART:
    """Convert the weights of a BART of ``transformers`` to ours; an output bias that is missing is zero, with a
    warning. Raises ValueError for a setting that our model does not support."""
    require(config, scale_embedding=False)
    if activation(config.activation_function) != "gelu":
        require(config, activation_function="gelu")
    model = BART(BARTConfig(**our_sizes(config), time=config.max_position_embeddings))
    return filled(model, to_ours(links_of(config.encoder_layers), theirs)
                  | or_zeros(OUTPUT_BIAS, theirs, weights(model)))


def write_bart(model: BART) -> "BartForConditionalGeneration":
    """Convert our BART to a ``BartForConditionalGeneration`` of ``transformers``. Raises ValueError unless the epsilon
    of its norms is 1e-5."""
    from transformers import BartConfig, BartForConditionalGeneration

    ours = model.config
    require(ours, "theirs", eps=1e-5)
    theirs = BartForConditionalGeneration(BartConfig(
        **their_sizes(ours), max_position_embeddings=ours.time, pad_token_id=None, bos_token_id=None, eos_token_id=None,
        forced_eos_token_id=None))
    return loaded(theirs, with_tied(to_theirs([*links_of(ours.layers), *OUTPUT_BIAS], weights(model))))
