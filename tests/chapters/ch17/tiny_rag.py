"""A RAG in the words of chapter 17's worlds, too small to know anything, and answers that are put into its mouth."""

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from plmlab.chapters.ch17.questions import PhraseQuestion, documents
from plmlab.decode.hypothesis import Hypothesis
from plmlab.models.bart import BART, BARTConfig
from plmlab.models.dpr import DPRConfig, QuestionEncoder
from plmlab.models.rag import RAGSequence, RAGToken
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

WORLD = TEST_WORLDS[0]
CORPUS = documents(WORLD)  # here, because the words of the worlds take seconds, once per process
SIZE = {"layers": 1, "model": 16, "heads": 2, "inner": 16, "dropout": 0.0, "attention_dropout": 0.0}
VOCAB, WORDS = world_tokenizer().vocab, len(world_tokenizer())


def scattered(model: Any, seed: int) -> Any:
    """The model with weights large enough that each word of a text changes its vector."""
    generator = torch.Generator().manual_seed(seed)
    for weight in model.eval().parameters():
        nn.init.normal_(weight, std=0.5, generator=generator)
    return model


def encoder(seed: int = 0) -> Any:
    return scattered(QuestionEncoder(DPRConfig(WORDS, time=96, **SIZE)), seed)


def rag(kind: type[RAGSequence] = RAGToken) -> Any:
    return kind.from_pretrained(encoder(), scattered(BART(BARTConfig(WORDS, time=160, **SIZE)), 1))


def asked(one: PhraseQuestion) -> str:
    return " ".join(one.words)


def text(tokens: Tensor) -> str:
    return " ".join(world_tokenizer().tokens([token for token in tokens.tolist() if token > VOCAB.end]))


def saying(monkeypatch: pytest.MonkeyPatch, said: Mapping[str, str]) -> None:
    """Let every RAG answer a question with the text given for it."""
    for kind in (RAGSequence, RAGToken):
        monkeypatch.setattr(kind, "generate", lambda model, batch, vocab, **options: [
            [Hypothesis((*ids(said[text(row)].split()), vocab.end), -1.0), Hypothesis((vocab.end,), -2.0)]
            for row in batch.queries.tokens])
