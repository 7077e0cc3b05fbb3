"""Conversion to and from Hugging Face ``transformers``: weights in both directions, and hook points for its models."""

from plmlab.hf.export import to_hf, tokenizer_to_hf
from plmlab.hf.load import NotLoadable, convert, from_hf, minilm
from plmlab.hf.realm import embedder_from_folder

__all__ = ["NotLoadable", "convert", "embedder_from_folder", "from_hf", "minilm", "to_hf", "tokenizer_to_hf"]
