"""Variants in a few lines each: a BERT whose layers are one shared layer, a GPT-2 with relative positions, an LSTM.

They are the beginnings of ALBERT, of Transformer-XL and of chapter 01: whatever the course can do with a model, it can
do with these.
"""

from dataclasses import dataclass

from torch import nn
from torch.nn import functional as F

from plmlab.example import IGNORE
from plmlab.layers.positions import RelativeAttention
from plmlab.models.architectures import DECODER, ENCODER, RECURRENT
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT2, Embeddings, GPTConfig
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


class TokensOnly(Embeddings):
    def __init__(self, config):
        super().__init__(config)
        del self.position

    def forward(self, batch):
        return self.dropout(self.token(batch.tokens))


@model("relative-gpt2", GPTConfig, DECODER, Pretraining("relative-gpt2", causal, Tokenizer.bpe, stream=True))
class RelativeGPT2(GPT2):
    embeddings_class = TokensOnly
    attention_class = RelativeAttention


@dataclass(frozen=True)
class LSTMConfig:
    vocab: int
    layers: int = 1
    model: int = 16

    @classmethod
    def tiny(cls, vocab, time=0):
        return cls(vocab)


@model("lstm", LSTMConfig, RECURRENT, Pretraining("lstm", causal, Tokenizer.bpe, stream=True))
class LSTM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, self.token = config, nn.Embedding(config.vocab, config.model)
        self.steps = nn.LSTM(config.model, config.model, config.layers, batch_first=True)

    def forward(self, batch):
        return F.linear(self.steps(self.token(batch.tokens))[0], self.token.weight)

    def loss(self, batch):
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)
