"""The bridge to Hugging Face ``transformers``: weights over to our models and back, and hook points in theirs."""

from plmlab.hf.export import to_hf, tokenizer_to_hf
from plmlab.hf.load import NotLoadable, convert, from_hf, minilm

__all__ = ["NotLoadable", "convert", "from_hf", "minilm", "to_hf", "tokenizer_to_hf"]
