"""Paths of the layers and attention modules in the models of ``transformers``."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import nn

GPT1 = "transformers.models.openai.modeling_openai"


@dataclass(frozen=True)
class Stack:
    """A stack of layers in a base model: the prefix of its hook points (``name``), the path of its ``layers``, and the
    path of each kind of attention module within a layer."""

    name: str
    layers: str
    attention: Mapping[str, str]

    def find(self, base: nn.Module) -> nn.ModuleList | None:
        """The layers of this stack in a base model, or None if they are not found."""
        part: object = base
        for name in self.layers.split("."):
            part = getattr(part, name, None)
        return part if isinstance(part, nn.ModuleList) else None


BERT = (Stack("", "encoder.layer", {"attention": "attention.self"}),)
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
    "bert": BERT, "roberta": BERT, "electra": BERT, "distilbert": DISTILBERT,
    "gpt2": GPT, "openai-gpt": GPT,
    "bart": BART, "mbart": BART, "pegasus": BART, "marian": BART, "t5": T5,
}
"""The stacks of layers of each ``model_type``."""
