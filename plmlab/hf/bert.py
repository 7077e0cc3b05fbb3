"""Weight mapping between our BERT, with its two pretraining heads, and the BERT of ``transformers``."""

from typing import TYPE_CHECKING, Any

from plmlab.hf.families import Family
from plmlab.hf.links import ALIKE, Form, Link, activation, affine, require
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining

if TYPE_CHECKING:
    from transformers import BertConfig


def embedding_links(base: str, position: Form = ALIKE) -> list[Link]:
    """Links of the embedding weights in a model whose ``transformers`` weights begin with ``base``; ``position`` is the
    layout of the position table."""
    return [
        Link("embeddings.token.weight", f"{base}.embeddings.word_embeddings.weight"),
        Link("embeddings.position.weight", f"{base}.embeddings.position_embeddings.weight", position),
        Link("embeddings.segment.weight", f"{base}.embeddings.token_type_embeddings.weight"),
        *affine("embeddings.norm", f"{base}.embeddings.LayerNorm"),
    ]


def layer_links(size: BERTConfig, base: str) -> list[Link]:
    """Links of the layer weights in a model whose ``transformers`` weights begin with ``base``."""
    links = []
    for i in range(size.layers):
        ours, theirs = f"layers.{i}", f"{base}.encoder.layer.{i}"
        links += [
            *affine(f"{ours}.attention.q", f"{theirs}.attention.self.query"),
            *affine(f"{ours}.attention.k", f"{theirs}.attention.self.key"),
            *affine(f"{ours}.attention.v", f"{theirs}.attention.self.value"),
            *affine(f"{ours}.attention.out", f"{theirs}.attention.output.dense"),
            *affine(f"{ours}.attention_residual.norm", f"{theirs}.attention.output.LayerNorm"),
            *affine(f"{ours}.feed_forward.up", f"{theirs}.intermediate.dense"),
            *affine(f"{ours}.feed_forward.down", f"{theirs}.output.dense"),
            *affine(f"{ours}.feed_forward_residual.norm", f"{theirs}.output.LayerNorm"),
        ]
    return links


def encoder_links(size: BERTConfig) -> list[Link]:
    """Links of the weights of the embeddings and layers."""
    return [*embedding_links("bert"), *layer_links(size, "bert")]


def our_size(config: Any) -> BERTConfig:
    """Convert a ``transformers`` configuration to ours. Raises ValueError for a setting that our model does not
    support."""
    require(config, is_decoder=False, add_cross_attention=False, position_embedding_type="absolute",
            tie_word_embeddings=True)
    return BERTConfig(
        vocab=config.vocab_size, time=config.max_position_embeddings, layers=config.num_hidden_layers,
        model=config.hidden_size, heads=config.num_attention_heads, inner=config.intermediate_size,
        segments=config.type_vocab_size, dropout=config.hidden_dropout_prob,
        attention_dropout=config.attention_probs_dropout_prob, activation=activation(config.hidden_act),
        eps=config.layer_norm_eps,
    )


def their_settings(ours: BERTConfig) -> dict[str, Any]:
    """The settings that the configurations of BERT and of its variants in ``transformers`` have in common."""
    return {
        "vocab_size": ours.vocab, "max_position_embeddings": ours.time, "num_hidden_layers": ours.layers,
        "hidden_size": ours.model, "num_attention_heads": ours.heads, "intermediate_size": ours.inner,
        "type_vocab_size": ours.segments, "hidden_dropout_prob": ours.dropout,
        "attention_probs_dropout_prob": ours.attention_dropout, "layer_norm_eps": ours.eps, "pad_token_id": None,
        "hidden_act": {"gelu_tanh": "gelu_pytorch_tanh"}.get(ours.activation, ours.activation),
    }


def their_size(ours: BERTConfig, **more: Any) -> "BertConfig":
    """Convert our configuration to a ``BertConfig`` of ``transformers``; ``more`` holds additional arguments."""
    from transformers import BertConfig

    return BertConfig(**their_settings(ours), **more)


BERTS = Family(
    BERT, BERTPretraining, ("BertModel", "BertForPreTraining"), "encoder", our_size, their_size, encoder_links,
    pooler=affine("pooler", "bert.pooler.dense"),
    head=[
        *affine("transform", "cls.predictions.transform.dense"),
        *affine("norm", "cls.predictions.transform.LayerNorm"),
        Link("bias", "cls.predictions.bias"),
    ],
    others=affine("next_sentence", "cls.seq_relationship"),
    tied=[
        Link("encoder.embeddings.token.weight", "cls.predictions.decoder.weight"),
        Link("bias", "cls.predictions.decoder.bias"),
    ],
)
