"""A variant in a few lines: a GPT-2 with relative positions, the beginning of Transformer-XL. Whatever the course can
do with a model, it can do with this one."""

from plmlab.layers.relative import ShawAttention
from plmlab.layers.stack import TokenEmbeddings
from plmlab.models.architectures import DECODER
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import causal
from plmlab.text.tokenizers import Tokenizer


@model("relative-gpt2", GPTConfig, DECODER, Pretraining("relative-gpt2", causal, Tokenizer.bpe, stream=True))
class RelativeGPT2(GPT2):
    embeddings_class = TokenEmbeddings
    attention_class = ShawAttention
