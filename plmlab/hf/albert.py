"""Weight mapping between our ALBERT, with its two pretraining heads, and the ALBERT of ``transformers``."""

from typing import TYPE_CHECKING, Any

from plmlab.hf.bert import BERTS, embedding_links, their_settings
from plmlab.hf.families import Family
from plmlab.hf.links import Link, affine, require
from plmlab.models.albert import ALBERT, ALBERTConfig, ALBERTPretraining

if TYPE_CHECKING:
    from transformers import AlbertConfig as TheirConfig


def encoder_links(size: ALBERTConfig) -> list[Link]:
    """Links of the weights of the embeddings and of the shared layer, which is the only one with weights of its own."""
    ours, theirs = "layers.0", "albert.encoder.albert_layer_groups.0.albert_layers.0"
    return [
        *embedding_links("albert"),
        *affine("embeddings.project", "albert.encoder.embedding_hidden_mapping_in"),
        *affine(f"{ours}.attention.q", f"{theirs}.attention.query"),
        *affine(f"{ours}.attention.k", f"{theirs}.attention.key"),
        *affine(f"{ours}.attention.v", f"{theirs}.attention.value"),
        *affine(f"{ours}.attention.out", f"{theirs}.attention.dense"),
        *affine(f"{ours}.attention_residual.norm", f"{theirs}.attention.LayerNorm"),
        *affine(f"{ours}.feed_forward.up", f"{theirs}.ffn"),
        *affine(f"{ours}.feed_forward.down", f"{theirs}.ffn_output"),
        *affine(f"{ours}.feed_forward_residual.norm", f"{theirs}.full_layer_layer_norm"),
    ]


def require_projection(embedding: int, model: int) -> None:
    """Raise ValueError if the embeddings are as wide as the model: ``transformers`` then still projects them, our model
    does not."""
    if embedding == model:
        raise ValueError(f"the embeddings are as wide as the model, {model}; such an ALBERT cannot be converted, "
                         "because transformers projects its embeddings, and our model, like the authors' code, does "
                         "not")


def our_size(config: "TheirConfig") -> ALBERTConfig:
    """Convert a ``transformers`` configuration to ours. Raises ValueError for a setting that our model does not
    support."""
    require(config, num_hidden_groups=1, inner_group_num=1)
    require_projection(config.embedding_size, config.hidden_size)
    return ALBERTConfig(**vars(BERTS.size(config)), embedding=config.embedding_size)


def their_size(ours: ALBERTConfig, **more: Any) -> "TheirConfig":
    """Convert our configuration to that of ``transformers``; ``more`` holds additional arguments. Raises ValueError if
    the embeddings are as wide as the model."""
    from transformers import AlbertConfig as TheirConfig

    require_projection(ours.embedding, ours.model)
    return TheirConfig(**their_settings(ours), embedding_size=ours.embedding, classifier_dropout_prob=ours.dropout,
                       bos_token_id=None, eos_token_id=None, **more)


ALBERTS = Family(
    ALBERT, ALBERTPretraining, ("AlbertModel", "AlbertForPreTraining"), "encoder", our_size, their_size, encoder_links,
    pooler=affine("pooler", "albert.pooler"),
    head=[
        *affine("transform", "predictions.dense"),
        *affine("norm", "predictions.LayerNorm"),
        Link("bias", "predictions.bias"),
    ],
    others=affine("sentence_order", "sop_classifier.classifier"),
    tied=[
        Link("encoder.embeddings.token.weight", "predictions.decoder.weight"),
        Link("bias", "predictions.decoder.bias"),
    ],
)
