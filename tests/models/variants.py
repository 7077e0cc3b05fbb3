"""Variants in a few lines each: a BERT whose layers are one shared layer, a GPT-2 with relative positions.

They are the beginnings of ALBERT and of Transformer-XL: whatever the course can do with a model, it can do with these.
"""

from torch import nn

from plmlab.layers.relative import ShawAttention
from plmlab.layers.stack import TokenEmbeddings
from plmlab.models.architectures import DECODER, ENCODER
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import causal, masked, next_sentence
from plmlab.text.tokenizers import Tokenizer


@model("shared-bert", BERTConfig, ENCODER)
class SharedBERT(BERT):
    def stack(self):
        return nn.ModuleList([super().stack()[0]] * self.config.layers)


@model("shared-bert-pretraining", BERTConfig, ENCODER,
       Pretraining("shared-bert", masked, Tokenizer.wordpiece, added=2, pairs=next_sentence))
class SharedBERTPretraining(BERTPretraining):
    encoder_class = SharedBERT


@model("relative-gpt2", GPTConfig, DECODER, Pretraining("relative-gpt2", causal, Tokenizer.bpe, stream=True))
class RelativeGPT2(GPT2):
    embeddings_class = TokenEmbeddings
    attention_class = ShawAttention
