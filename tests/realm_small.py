"""A small REALM and the documents that it looks things up in, for its tests; and what a text comes to without a batch,
by the models of ``transformers``."""

import math
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor, nn
from transformers import BertForMaskedLM, BertModel

from plmlab.hf import to_hf
from plmlab.models.bert import BERT
from plmlab.models.dual_encoder import DualEncoder, DualEncoderConfig
from plmlab.models.realm import REALM
from plmlab.models.retrieve_and_read import Query
from plmlab.retrieval.blocks import Block
from plmlab.text.words import word_tokenizer

WORDS = word_tokenizer(["ada", "bo", "cy", "dee", "was", "born", "in", "rome", "oslo", "paris", "saw", "the", "sea",
                        "of", "red", "green", "paint", "and", "then"])
VOCAB = WORDS.vocab
SIZE = DualEncoderConfig(len(WORDS), time=32, layers=2, model=12, heads=3, inner=20, dropout=0.0, attention_dropout=0.0,
                         width=5)
BLOCKS = [
    Block("ada", 0, ("ada was born in rome",)),
    Block("ada", 1, ("ada saw the sea of oslo", "then ada saw paris")),
    Block("bo", 0, ("bo was born in oslo",)),
    Block("cy cy", 0, ("paint",)),
    Block("dee", 0, ("dee was born in paris and dee saw the red sea",)),
]


def ids(text: str) -> tuple[int, ...]:
    return tuple(WORDS.encode(text, plain=True))


QUERIES = [Query(ids("ada was born in rome"), (4,)), Query(ids("bo saw the green sea of oslo then"), (0, 3, 6)),
           Query(ids("paint"), (0,)), Query(ids("dee saw paris"), (0, 2))]


def scattered(model: nn.Module, seed: int = 3) -> nn.Module:
    """The model in float64, every weight random, norms and biases too, so that it matters what is read."""
    generator = torch.Generator().manual_seed(seed)
    model.double().eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator, dtype=torch.float64) * 0.5)
            if name.endswith("norm.weight"):
                weight.add_(1)
    return model


def realm(kind: type[REALM] = REALM, seed: int = 3) -> REALM:
    return scattered(kind(SIZE), seed)


def same(ours: Tensor, theirs: Tensor, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance)


def vector_by_theirs(embedder: DualEncoder, tokens: Sequence[int], segments: Sequence[int]) -> Tensor:
    """The vector of one text, by ``BertModel``'s pooled output, a linear layer and a norm written out."""
    pooled = encoder(embedder.encoder)(torch.tensor([tokens]), token_type_ids=torch.tensor([segments])).pooler_output[0]
    projected = embedder.projection.weight @ pooled + embedder.projection.bias
    spread = (projected - projected.mean()) / (projected.var(unbiased=False) + embedder.norm.eps).sqrt()
    return spread * embedder.norm.weight + embedder.norm.bias


@cache
def encoder(bert: BERT) -> BertModel:
    """It as ``transformers`` has it."""
    return to_hf(bert)


@cache
def masked_lm(model: REALM) -> BertForMaskedLM:
    """The reader as ``transformers`` has it."""
    whole = to_hf(model.reader)
    theirs = BertForMaskedLM(whole.config).double().eval()
    theirs.load_state_dict({name: whole.state_dict()[name] for name in theirs.state_dict()})
    return theirs


def two(first: Sequence[int], second: Sequence[int]) -> tuple[list[int], list[int]]:
    """[CLS] A [SEP] B [SEP] and its segments, by their numbers."""
    return [2, *first, 3, *second, 3], [0] * (len(first) + 2) + [1] * (len(second) + 1)


def hidden(query: Query) -> list[int]:
    """The statement as it is shown, 4 being [MASK]."""
    return [4 if place in query.hidden else token for place, token in enumerate(query.tokens)]


def softmax(scores: Sequence[float]) -> list[float]:
    each = [math.exp(score - max(scores)) for score in scores]
    return [one / math.fsum(each) for one in each]
