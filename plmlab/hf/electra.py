"""Weight mapping between the generator and the discriminator of our ELECTRA and the ELECTRA models of
``transformers``, where they are two separate models. In the sequence classifier of ``transformers``, our pooler is part
of the head."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plmlab.hf.bert import BERTS, embedding_links, layer_links, their_settings
from plmlab.hf.families import Family
from plmlab.hf.links import Link, affine, require
from plmlab.models.electra import ELECTRA, ELECTRAConfig, ELECTRADiscriminator, ELECTRAGenerator

if TYPE_CHECKING:
    from transformers import ElectraConfig as TheirConfig


def encoder_links(size: ELECTRAConfig) -> list[Link]:
    """Links of the weights of the embeddings, of their projection if there is one, and of the layers."""
    project = affine("embeddings.project", "electra.embeddings_project")
    is_projected = size.embedding not in (None, size.model)
    return [*embedding_links("electra"), *(project if is_projected else ()), *layer_links(size, "electra")]


def our_size(config: "TheirConfig") -> ELECTRAConfig:
    """Convert a ``transformers`` configuration to ours. Raises ValueError for a setting that our model does not
    support, or that ``transformers`` itself ignores: its generator's head always has GELU."""
    require(config, hidden_act="gelu")
    is_projected = config.embedding_size != config.hidden_size
    return ELECTRAConfig(**vars(BERTS.size(config)), embedding=config.embedding_size if is_projected else None)


def their_size(ours: ELECTRAConfig, **more: Any) -> "TheirConfig":
    """Convert our configuration to that of ``transformers``; ``more`` holds additional arguments. Raises ValueError
    unless the activation is GELU."""
    from transformers import ElectraConfig as TheirConfig

    require(ours, "theirs", activation="gelu")
    return TheirConfig(**their_settings(ours), embedding_size=ours.embedding or ours.model, **more)


DISCRIMINATORS = Family(
    ELECTRA, ELECTRADiscriminator, ("ElectraModel", "ElectraForPreTraining"), "encoder", our_size, their_size,
    encoder_links,
    pooler=affine("pooler", "classifier.dense"),
    head=[
        *affine("transform", "discriminator_predictions.dense"),
        *affine("output", "discriminator_predictions.dense_prediction"),
    ],
    others=[],
    tied=[],
)
GENERATORS = replace(
    DISCRIMINATORS, pretraining=ELECTRAGenerator, theirs=("ElectraModel", "ElectraForMaskedLM"),
    head=[
        *affine("transform", "generator_predictions.dense"),
        *affine("norm", "generator_predictions.LayerNorm"),
        Link("bias", "generator_lm_head.bias"),
    ],
    tied=[Link("encoder.embeddings.token.weight", "generator_lm_head.weight")],
)
