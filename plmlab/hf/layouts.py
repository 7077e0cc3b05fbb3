"""Paths of the layers and attention modules in the models of ``transformers``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

GPT1 = "transformers.models.openai.modeling_openai"


@dataclass(frozen=True)
class Stack:
    """A stack of layers in a base model: the prefix of its hook points (``name``), the path of its ``layers``, and the
    path of each kind of attention module within a layer."""

    name: str
    layers: str
    attention: Mapping[str, str]

    def find(self, base: nn.Module) -> list[nn.Module] | None:
        """The layers of this stack in a base model, from bottom to top, or None if they are not found."""
        part: object = base
        for name in self.layers.split("."):
            part = getattr(part, name, None)
        return list(part) if isinstance(part, nn.ModuleList) else None


@dataclass(frozen=True)
class SharedStack(Stack):
    """A stack that applies one layer at every depth; ``layers`` is the path of a list that contains only this layer."""

    def find(self, base: nn.Module) -> list[nn.Module] | None:
        """The layer, once per depth, or None if it is not found."""
        found = super().find(base)
        depth: Any = base.config
        return found and found * depth.num_hidden_layers


BERT = (Stack("", "encoder.layer", {"attention": "attention.self"}),)
ALBERT = (SharedStack("", "encoder.albert_layer_groups.0.albert_layers", {"attention": "attention"}),)
DISTILBERT = (Stack("", "transformer.layer", {"attention": "attention"}),)
GPT = (Stack("", "h", {"attention": "attn"}),)
BART = (
    Stack("encoder.", "encoder.layers", {"attention": "self_attn"}),
    Stack("decoder.", "decoder.layers", {"attention": "self_attn", "cross_attention": "encoder_attn"}),
)
T5 = (
    Stack("encoder.", "encoder.block", {"attention": "layer.0.SelfAttention"}),
    Stack("decoder.", "decoder.block",
          {"attention": "layer.0.SelfAttention", "cross_attention": "layer.1.EncDecAttention"}),
)

LAYOUTS: dict[str, tuple[Stack, ...]] = {
    "bert": BERT, "roberta": BERT, "electra": BERT, "albert": ALBERT, "distilbert": DISTILBERT,
    "gpt2": GPT, "openai-gpt": GPT,
    "bart": BART, "mbart": BART, "pegasus": BART, "marian": BART, "t5": T5,
}
"""The stacks of layers of each ``model_type``."""
