"""Small models for the tests of the Attention Lab, and what it sends to the browser, taken apart again."""

from random import Random

import numpy as np
import torch
from standin import HOSTILE
from torch import nn

from plmlab.example import Batch
from plmlab.labs.attention.lab import AttentionLab
from plmlab.layers.relative import ShawAttention
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.glm import GLMConfig, GLMPretraining
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import causal, masked
from plmlab.text.tokenizers import Tokenizer

TEXT, OTHER = "the man saw the river", "a bank of the river"
WORDS = Tokenizer.words([TEXT, OTHER, *HOSTILE.values()], 120)
SIZE = len(WORDS)
CLOSE = {"rtol": 0, "atol": 1e-5}


def seeded(model: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4, generator=generator)
    return model.eval()


def bert(cls: type = BERT) -> nn.Module:
    return seeded(cls(BERTConfig(SIZE, time=20, layers=3, model=8, heads=2, inner=8)))


def cloze_reader(kind: str, size: int, seed: int) -> GLMPretraining | BERTPretraining:
    """A "GLM" or a "BERT" for so many words, its weights large enough that positions differ."""
    torch.manual_seed(seed)
    config = {"vocab": size, "time": 32, "layers": 1, "model": 16, "heads": 2, "inner": 32, "dropout": 0.0,
              "attention_dropout": 0.0}
    made = GLMPretraining(GLMConfig(**config)) if kind == "GLM" else BERTPretraining(BERTConfig(**config))
    for weight in made.parameters():
        nn.init.normal_(weight, std=0.3)
    return made.eval()


def gpt() -> nn.Module:
    return seeded(GPT2(GPTConfig(SIZE, time=20, layers=3, model=8, heads=2)))


def relative() -> nn.Module:
    model = BERT(BERTConfig(SIZE, time=20, layers=2, model=8, heads=2, inner=8))
    for layer in model.layers:
        layer.attention = ShawAttention(8, 2, window=2)
    return seeded(model)


def both() -> nn.Module:
    return seeded(Transformer(TransformerConfig(SIZE, layers=2, model=8, heads=2, inner=8)))


def weights_of(lab: AttentionLab) -> torch.Tensor:
    """What the browser is sent: layer, head, query, key."""
    state = lab.state
    whole = np.frombuffer(state["weights"], dtype="<u2").astype(np.float64) / 65_535
    return torch.tensor(whole).view(*state["size"], len(state["queries"]), len(state["keys"]))


def tables(lab: AttentionLab) -> dict[str, torch.Tensor]:
    """The six tables of the head that is shown, as the browser takes them apart."""
    (rows, columns), width = lab.detail["count"], lab.detail["width"]
    numbers = torch.tensor(np.frombuffer(lab.detail["numbers"], dtype="<f4").copy())
    shapes = {"q": (rows, width), "k": (columns, width), "v": (columns, width), "scores": (rows, columns),
              "weights": (rows, columns), "mixed": (rows, width)}
    parts = numbers.split([a * b for a, b in shapes.values()])
    return {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}


def batch_of(model: nn.Module, text: str = TEXT) -> Batch:
    ids, vocab = WORDS.encode(text), WORDS.vocab
    if isinstance(model, GPT2):
        return Batch.of([causal(ids, vocab=vocab, rng=Random(0))], pad=0)
    return Batch.of([masked(ids, vocab=vocab, rng=Random(0), select=())], pad=0)
