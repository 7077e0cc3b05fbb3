"""Weight mapping between our RoBERTa and that of ``transformers``.

The ``transformers`` model counts positions from the id of the padding token plus 1, and skips padding: in the released
models padding is token 1, so that positions begin at 2. It also adds its only segment embedding at every position.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plmlab.hf.bert import BERTS, embedding_links, layer_links, their_settings
from plmlab.hf.families import Family
from plmlab.hf.links import Link, affine, after_reserved, require
from plmlab.models.roberta import RoBERTa, RoBERTaConfig, RoBERTaPretraining

if TYPE_CHECKING:
    from transformers import RobertaConfig as TheirConfig


def reserved(pad: int) -> int:
    """Number of reserved positions in ``transformers``, up to the id of the padding token."""
    return pad + 1


def encoder_links(size: RoBERTaConfig) -> list[Link]:
    """Links of the weights of the embeddings and layers."""
    return [*embedding_links("roberta", after_reserved(reserved(size.pad))), *layer_links(size, "roberta")]


def our_size(config: "TheirConfig") -> RoBERTaConfig:
    """Convert a ``transformers`` configuration to ours. Raises ValueError for a setting that our model does not
    support, or that ``transformers`` itself ignores: its head always has GELU."""
    require(config, type_vocab_size=1, hidden_act="gelu")
    pad: Any = config.pad_token_id
    size = replace(BERTS.size(config), time=config.max_position_embeddings - reserved(pad))
    return RoBERTaConfig(**vars(size), pad=pad)


def their_size(ours: RoBERTaConfig, **more: Any) -> "TheirConfig":
    """Convert our configuration to that of ``transformers``; ``more`` holds additional arguments. Raises ValueError
    unless there is one segment embedding and the activation is GELU."""
    from transformers import RobertaConfig as TheirConfig

    require(ours, "theirs", segments=1, activation="gelu")
    positions = {"max_position_embeddings": ours.time + reserved(ours.pad), "pad_token_id": ours.pad}
    return TheirConfig(**their_settings(ours) | positions, **more)


ROBERTAS = Family(
    RoBERTa, RoBERTaPretraining, ("RobertaModel", "RobertaForMaskedLM"), "encoder", our_size, their_size, encoder_links,
    pooler=affine("pooler", "roberta.pooler.dense"),
    head=[*affine("transform", "lm_head.dense"), *affine("norm", "lm_head.layer_norm"), Link("bias", "lm_head.bias")],
    others=[],
    tied=[
        Link("encoder.embeddings.token.weight", "lm_head.decoder.weight"),
        Link("bias", "lm_head.decoder.bias"),
    ],
)
