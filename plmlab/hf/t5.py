"""Weight mapping between our T5 and T5 v1.1 and the T5 of ``transformers``.

In ``transformers`` the two are one class. A configuration with ``tie_word_embeddings=False`` removes the factor d^−½ of
the output, but the output layer stays tied until it gets a weight of its own, which `write_t5` gives it.
"""

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from plmlab.hf.links import Link, filled, loaded, require, to_ours, to_theirs
from plmlab.models.t5 import T5, T5Config, T5v11, T5v11Config
from plmlab.weights import weights

if TYPE_CHECKING:
    from transformers import T5Config as TheirConfig
    from transformers import T5ForConditionalGeneration

BASE = "transformer."
"""The prefix of all names of ``transformers`` here: its T5 has no submodule of this name, so `plmlab.hf.links.bare`
gives it even for the model with the output layer."""
ATTENTION = {"q": "q", "k": "k", "v": "v", "out": "o"}
FEED_FORWARD = {T5: {"up": "wi", "down": "wo"}, T5v11: {"gate": "wi_0", "up": "wi_1", "down": "wo"}}


def links_of(kind: type[T5], layers: int) -> list[Link]:
    """Links of all weights, relative to ``T5ForConditionalGeneration``."""
    pairs = [("token", "shared")]
    for side in ("encoder", "decoder"):
        pairs += [(f"{side}.distance", f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias"),
                  (f"{side}.final_norm", f"{side}.final_layer_norm")]
    for side, i in product(("encoder", "decoder"), range(layers)):
        sublayers = {"attention": ("SelfAttention", ATTENTION), "cross_attention": ("EncDecAttention", ATTENTION),
                     "feed_forward": ("DenseReluDense", FEED_FORWARD[kind])}
        if side == "encoder":
            del sublayers["cross_attention"]
        for number, (part, (name, linears)) in enumerate(sublayers.items()):
            ours, theirs = f"{side}.layers.{i}.{part}", f"{side}.block.{i}.layer.{number}"
            pairs.append((f"{ours}_residual.norm", f"{theirs}.layer_norm"))
            pairs += [(f"{ours}.{own}", f"{theirs}.{name}.{other}") for own, other in linears.items()]
    if kind is T5v11:
        pairs.append(("output", "lm_head"))
    return [Link(f"{ours}.weight", f"{BASE}{theirs}.weight") for ours, theirs in pairs]


def read_t5(config: "TheirConfig", theirs: Mapping[str, Tensor]) -> T5:
    """Convert the weights of a T5 of ``transformers`` to our T5, or to our T5 v1.1 if its feed-forward network is
    gated. Raises ValueError for a setting that our model does not support."""
    gated = config.feed_forward_proj == "gated-gelu"
    require(config, feed_forward_proj="gated-gelu" if gated else "relu", scale_decoder_outputs=not gated,
            num_decoder_layers=config.num_layers, relative_attention_max_distance=128)
    size: dict[str, Any] = {
        "vocab": config.vocab_size, "layers": config.num_layers, "model": config.d_model, "heads": config.num_heads,
        "inner": config.d_ff, "dropout": config.dropout_rate, "width": config.d_kv,
        "buckets": config.relative_attention_num_buckets, "eps": config.layer_norm_epsilon,
    }
    model = T5v11(T5v11Config(**size)) if gated else T5(T5Config(**size))
    return filled(model, to_ours(links_of(type(model), config.num_layers), theirs))


def write_t5(model: T5) -> "T5ForConditionalGeneration":
    """Convert our T5 or T5 v1.1 to a ``T5ForConditionalGeneration`` of ``transformers``. Its ids of special tokens are
    not set: pass ``decoder_start_token_id``, the id of [START], to ``generate``."""
    from transformers import T5Config as TheirConfig
    from transformers import T5ForConditionalGeneration

    ours, kind = model.config, type(model)
    untied: dict[str, Any] = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
    theirs = T5ForConditionalGeneration(TheirConfig(
        vocab_size=ours.vocab, num_layers=ours.layers, d_model=ours.model, num_heads=ours.heads, d_ff=ours.inner,
        dropout_rate=ours.dropout, d_kv=ours.width or ours.model // ours.heads, layer_norm_epsilon=ours.eps,
        relative_attention_num_buckets=ours.buckets, pad_token_id=None, eos_token_id=None,
        **untied if kind is T5v11 else {}))
    state = {name.removeprefix(BASE): tensor
             for name, tensor in to_theirs(links_of(kind, ours.layers), weights(model)).items()}
    if kind is T5v11:
        theirs.lm_head.weight = nn.Parameter(theirs.lm_head.weight.detach().clone())
    tied = ("encoder.embed_tokens", "decoder.embed_tokens", *(() if kind is T5v11 else ("lm_head",)))
    return loaded(theirs, state | {f"{name}.weight": state["shared.weight"] for name in tied})
