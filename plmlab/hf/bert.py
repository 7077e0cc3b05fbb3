"""BERT: our encoder and its two pretraining heads, and those of ``transformers``."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from plmlab.hf.links import Link, activation, affine, filled, loaded, require, to_ours, to_theirs
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.weights import weights

if TYPE_CHECKING:
    from transformers import BertConfig, BertForPreTraining, BertModel

HEAD = "cls.predictions.transform.dense.weight"


def encoder_links(layers: int) -> list[Link]:
    """The links of an encoder's embeddings and layers; names count from our ``BERT`` and their ``BertModel``."""
    links = [
        Link("embeddings.token.weight", "embeddings.word_embeddings.weight"),
        Link("embeddings.position.weight", "embeddings.position_embeddings.weight"),
        Link("embeddings.segment.weight", "embeddings.token_type_embeddings.weight"),
        *affine("embeddings.norm", "embeddings.LayerNorm"),
    ]
    for i in range(layers):
        ours, theirs = f"layers.{i}", f"encoder.layer.{i}"
        links += [
            *affine(f"{ours}.attention.q", f"{theirs}.attention.self.query"),
            *affine(f"{ours}.attention.k", f"{theirs}.attention.self.key"),
            *affine(f"{ours}.attention.v", f"{theirs}.attention.self.value"),
            *affine(f"{ours}.attention.out", f"{theirs}.attention.output.dense"),
            *affine(f"{ours}.attention_residual.norm", f"{theirs}.attention.output.LayerNorm"),
            *affine(f"{ours}.feed_forward.widen", f"{theirs}.intermediate.dense"),
            *affine(f"{ours}.feed_forward.narrow", f"{theirs}.output.dense"),
            *affine(f"{ours}.feed_forward_residual.norm", f"{theirs}.output.LayerNorm"),
        ]
    return links


POOLER = affine("pooler", "pooler.dense")
WORDS = [
    *affine("transform", "cls.predictions.transform.dense"),
    *affine("norm", "cls.predictions.transform.LayerNorm"),
    Link("bias", "cls.predictions.bias"),
]
FOLLOWS = affine("next_sentence", "cls.seq_relationship")


def whole(encoder: list[Link]) -> list[Link]:
    """The links of an encoder, counted from a model that holds it as ``bert``, on both sides."""
    return [Link(f"bert.{link.ours}", f"bert.{link.theirs}") for link in encoder]


def read_bert(config: "BertConfig", theirs: Mapping[str, Tensor]) -> BERT | BERTPretraining:
    """Our BERT with their weights, named as in ``BertForPreTraining``; with its heads where the weights hold them.

    A pooler or a next-sentence head that the weights lack is zero, and a warning says so. ValueError where other
    weights are missing, or the configuration asks for what ours does not do.
    """
    ours = our_size(config)
    encoder = encoder_links(ours.layers)
    if HEAD not in theirs:
        bert = BERT(ours)
        bare = {name.removeprefix("bert."): tensor for name, tensor in theirs.items()}
        return filled(bert, to_ours(encoder, bare) | _or_zeros(POOLER, bare, weights(bert)))
    model = BERTPretraining(ours)
    found = to_ours([*whole(encoder), *WORDS], theirs)
    return filled(model, found | _or_zeros([*whole(POOLER), *FOLLOWS], theirs, weights(model)))


def our_size(config: "BertConfig") -> BERTConfig:
    """Their configuration as ours; a ValueError where it asks for what ours does not do."""
    require(config, is_decoder=False, add_cross_attention=False, position_embedding_type="absolute",
            tie_word_embeddings=True)
    return BERTConfig(
        vocab=config.vocab_size, time=config.max_position_embeddings, layers=config.num_hidden_layers,
        model=config.hidden_size, heads=config.num_attention_heads, inner=config.intermediate_size,
        segments=config.type_vocab_size, dropout=config.hidden_dropout_prob,
        attention_dropout=config.attention_probs_dropout_prob, activation=activation(config.hidden_act),
        eps=config.layer_norm_eps,
    )


def _or_zeros(links: list[Link], theirs: Mapping[str, Tensor], shapes: Mapping[str, Tensor]) -> dict[str, Tensor]:
    lacking = [link for link in links if link.theirs not in theirs]
    if lacking:
        parts = sorted({link.ours.removesuffix(".weight").removesuffix(".bias") for link in lacking})
        warnings.warn(f"the weights hold no {' and no '.join(parts)}: ours is zero, still to be trained", stacklevel=4)
    found = to_ours([link for link in links if link not in lacking], theirs)
    return found | {link.ours: torch.zeros_like(shapes[link.ours]) for link in lacking}


def write_bert(model: BERT) -> "BertModel":
    """A ``BertModel`` of ``transformers`` with the size and the weights of our ``BERT``."""
    from transformers import BertModel

    links = [*encoder_links(model.config.layers), *POOLER]
    return loaded(BertModel(their_size(model.config)), to_theirs(links, weights(model)))


def write_pretraining(model: BERTPretraining) -> "BertForPreTraining":
    """A ``BertForPreTraining`` of ``transformers`` with the size and the weights of our ``BERTPretraining``."""
    from transformers import BertForPreTraining

    links = [*whole(encoder_links(model.config.layers)), *whole(POOLER), *WORDS, *FOLLOWS]
    state = to_theirs(links, weights(model))
    state["cls.predictions.decoder.weight"] = state["bert.embeddings.word_embeddings.weight"]
    state["cls.predictions.decoder.bias"] = state["cls.predictions.bias"]
    return loaded(BertForPreTraining(their_size(model.config)), state)


def their_size(ours: BERTConfig, **more: Any) -> "BertConfig":
    """Our configuration as theirs; ``more`` are further arguments of ``BertConfig``."""
    from transformers import BertConfig

    return BertConfig(
        vocab_size=ours.vocab, max_position_embeddings=ours.time, num_hidden_layers=ours.layers,
        hidden_size=ours.model, num_attention_heads=ours.heads, intermediate_size=ours.inner,
        type_vocab_size=ours.segments, hidden_dropout_prob=ours.dropout,
        attention_probs_dropout_prob=ours.attention_dropout, layer_norm_eps=ours.eps, pad_token_id=None,
        hidden_act={"gelu_tanh": "gelu_pytorch_tanh"}.get(ours.activation, ours.activation), **more,
    )
