"""Weight mapping between our GPT and GPT-2 and those of ``transformers``, whose linear layers store transposed weights
(Conv1D)."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from plmlab.hf.links import CONV1D, Link, activation, affine, filled, loaded, require, to_ours, to_theirs
from plmlab.models.gpt import GPT, GPT2, GPTConfig
from plmlab.weights import weights

if TYPE_CHECKING:
    from transformers import GPT2Config, GPT2LMHeadModel, OpenAIGPTConfig, OpenAIGPTLMHeadModel


def layer_links(layers: int) -> list[Link]:
    """Links of the weights of the layers, whose names are the same in GPT-1 and GPT-2 of ``transformers``."""
    links = []
    for i in range(layers):
        ours, theirs = f"layers.{i}", f"transformer.h.{i}"
        for third, name in enumerate("qkv"):
            links += affine(f"{ours}.attention.{name}", f"{theirs}.attn.c_attn", CONV1D, third)
        links += [
            *affine(f"{ours}.attention.out", f"{theirs}.attn.c_proj", CONV1D),
            *affine(f"{ours}.attention_residual.norm", f"{theirs}.ln_1"),
            *affine(f"{ours}.feed_forward.up", f"{theirs}.mlp.c_fc", CONV1D),
            *affine(f"{ours}.feed_forward.down", f"{theirs}.mlp.c_proj", CONV1D),
            *affine(f"{ours}.feed_forward_residual.norm", f"{theirs}.ln_2"),
        ]
    return links


def gpt_links(layers: int) -> list[Link]:
    """Links of all GPT-1 weights; their names are relative to ``OpenAIGPTLMHeadModel``."""
    return [Link("embeddings.token.weight", "transformer.tokens_embed.weight"),
            Link("embeddings.position.weight", "transformer.positions_embed.weight"), *layer_links(layers)]


def gpt2_links(layers: int) -> list[Link]:
    """Links of all GPT-2 weights; their names are relative to ``GPT2LMHeadModel``."""
    return [Link("embeddings.token.weight", "transformer.wte.weight"),
            Link("embeddings.position.weight", "transformer.wpe.weight"), *layer_links(layers),
            *affine("final_norm", "transformer.ln_f")]


def read_gpt(config: "OpenAIGPTConfig", theirs: Mapping[str, Tensor]) -> GPT:
    """Convert the weights of an ``OpenAIGPTLMHeadModel`` to our GPT. Raises ValueError for a setting that our model
    does not support."""
    require(config, afn="gelu", tie_word_embeddings=True)
    return filled(GPT(_size(config)), to_ours(gpt_links(config.n_layer), theirs))


def read_gpt2(config: "GPT2Config", theirs: Mapping[str, Tensor]) -> GPT2:
    """Convert the weights of a ``GPT2LMHeadModel`` to our GPT-2. Raises ValueError for a setting that our model does
    not support."""
    require(config, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False,
            tie_word_embeddings=True)
    if activation(config.activation_function) != "gelu_tanh" or config.n_inner not in (None, 4 * config.n_embd):
        raise ValueError(f"this GPT-2 has n_inner={config.n_inner} and activation_function="
                         f"{config.activation_function!r}; ours only supports 4 · n_embd and the tanh approximation of "
                         "GELU ('gelu_new')")
    return filled(GPT2(_size(config)), to_ours(gpt2_links(config.n_layer), theirs))


def _size(config: "OpenAIGPTConfig | GPT2Config") -> GPTConfig:
    rates = (config.resid_pdrop, config.embd_pdrop, config.attn_pdrop)
    if len({*rates}) > 1:
        warnings.warn(f"this model's dropout rates are resid_pdrop, embd_pdrop, attn_pdrop = {rates}; ours has a "
                      f"single rate, which is set to {rates[0]}. It only affects training", stacklevel=5)
    return GPTConfig(vocab=config.vocab_size, time=config.n_positions, layers=config.n_layer, model=config.n_embd,
                     heads=config.n_head, dropout=config.resid_pdrop, eps=config.layer_norm_epsilon)


def _sizes(ours: GPTConfig) -> dict[str, Any]:
    return {
        "vocab_size": ours.vocab, "n_positions": ours.time, "n_layer": ours.layers, "n_embd": ours.model,
        "n_head": ours.heads, "layer_norm_epsilon": ours.eps, "resid_pdrop": ours.dropout,
        "embd_pdrop": ours.dropout, "attn_pdrop": ours.dropout, "bos_token_id": None, "eos_token_id": None,
    }


def write_gpt(model: GPT) -> "OpenAIGPTLMHeadModel":
    """Convert our ``GPT`` to an ``OpenAIGPTLMHeadModel`` of ``transformers``."""
    from transformers import OpenAIGPTConfig, OpenAIGPTLMHeadModel

    state = to_theirs(gpt_links(model.config.layers), weights(model))
    state["lm_head.weight"] = state["transformer.tokens_embed.weight"]
    return loaded(OpenAIGPTLMHeadModel(OpenAIGPTConfig(**_sizes(model.config))), state)


def write_gpt2(model: GPT2) -> "GPT2LMHeadModel":
    """Convert our ``GPT2`` to a ``GPT2LMHeadModel`` of ``transformers``."""
    from transformers import GPT2Config, GPT2LMHeadModel

    state = to_theirs(gpt2_links(model.config.layers), weights(model))
    state["lm_head.weight"] = state["transformer.wte.weight"]
    return loaded(GPT2LMHeadModel(GPT2Config(**_sizes(model.config))), state)
