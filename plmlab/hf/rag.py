"""Weight mapping between our DPR encoders and RAG and those of ``transformers``. Their DPR's BERT has no pooler, and
their RAG consists of a DPR question encoder and a BART; both sides leave the document encoder to the index."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from torch import Tensor

from plmlab.hf.bart import read_bart, write_bart
from plmlab.hf.bert import embedding_links, layer_links, our_size, their_settings
from plmlab.hf.links import Link, filled, loaded, require, to_ours, to_theirs
from plmlab.models.bart import BART
from plmlab.models.dpr import DocumentEncoder, DPRConfig, DPREncoder, QuestionEncoder
from plmlab.models.rag import RAGSequence, RAGToken
from plmlab.weights import weights

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Encoder = TypeVar("Encoder", bound=DPREncoder)
ENCODERS: dict[type[DPREncoder], tuple[str, str]] = {
    QuestionEncoder: ("DPRQuestionEncoder", "question_encoder"), DocumentEncoder: ("DPRContextEncoder", "ctx_encoder")}
"""Our encoder → the name of theirs, and the prefix of its weights."""
RAGS: dict[type[RAGSequence], str] = {RAGSequence: "RagSequenceForGeneration", RAGToken: "RagTokenForGeneration"}
"""Our RAG → the name of theirs."""


def links_of(kind: type[DPREncoder], size: DPRConfig) -> list[Link]:
    """Links of all weights of a DPR encoder."""
    base = f"{ENCODERS[kind][1]}.bert_model"
    return [*embedding_links(base), *layer_links(size, base)]


def read_dpr(kind: type[Encoder], config: Any, theirs: Mapping[str, Tensor]) -> Encoder:
    """Convert the weights of a DPR encoder of ``transformers`` to ours. Raises ValueError for an encoder with a
    projection, or for another setting that our model does not support."""
    require(config, projection_dim=0)
    size = DPRConfig(**asdict(our_size(config)))
    return filled(kind(size), to_ours(links_of(kind, size), theirs))


def write_dpr(model: DPREncoder) -> "PreTrainedModel":
    """Convert one of our DPR encoders to that of ``transformers``, which then needs an ``attention_mask``."""
    import transformers

    theirs: Any = getattr(transformers, ENCODERS[type(model)][0])(
        transformers.DPRConfig(**their_settings(model.config)))
    return loaded(theirs, to_theirs(links_of(type(model), model.config), weights(model)))


def read_rag(kind: type[RAGSequence], config: Any, theirs: Mapping[str, Tensor]) -> RAGSequence:
    """Convert the weights of a RAG of ``transformers`` to ours. Raises ValueError if its parts are not a DPR and a
    BART, or for a setting that our models do not support."""
    require(config.question_encoder, model_type="dpr")
    require(config.generator, model_type="bart")

    def part(name: str) -> dict[str, Tensor]:
        prefix = f"rag.{name}."
        return {key.removeprefix(prefix): theirs[key] for key in theirs if key.startswith(prefix)}
    return kind.from_pretrained(read_dpr(QuestionEncoder, config.question_encoder, part("question_encoder")),
                                read_bart(config.generator, part("generator")))


def write_rag(model: RAGSequence) -> "PreTrainedModel":
    """Convert our RAG to that of ``transformers``, whose loss needs ``config.generator.pad_token_id``. Raises
    ValueError if its parts are not a DPR question encoder and a BART."""
    import transformers

    parts = type(model.question_encoder), type(model.generator)
    if parts != (QuestionEncoder, BART):
        raise ValueError(f"this RAG consists of a {parts[0].__name__} and a {parts[1].__name__}; only one of a "
                         "QuestionEncoder and a BART is converted to transformers")
    return getattr(transformers, RAGS[type(model)])(question_encoder=write_dpr(model.question_encoder),
                                                    generator=write_bart(model.generator))
