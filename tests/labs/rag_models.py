"""A RAG for the tests of the Retrieval Lab: it retrieves by words in common, and copies towns from its document. No
document knows more than one half of "oslo and rome"."""

from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import torch
from realm_small import WORDS, ids
from torch import Tensor, nn

from plmlab.labs import RetrievalLab, RetrievalPreset
from plmlab.models.bart import BART, BARTConfig
from plmlab.models.rag import RAGConfig, RAGSequence, RetrieveAndGenerate
from plmlab.retrieval.blocks import Block

TOLD = {"ada": "ada was born in rome", "ada saw": "ada saw the sea in oslo", "bo": "bo was born in paris",
        "paint": "the paint of cy", "dee": "dee saw the green sea"}
TEXT = "ada saw sea and was born in"
PRESETS = [RetrievalPreset("two halves", TEXT, "oslo and rome", chosen="oslo and rome"),
           RetrievalPreset("one fact", "bo was born in", "paris"),
           RetrievalPreset("told otherwise", TEXT + " then", replaced={0: ("ada", "ada was born in paris")})]
TOWNS, AND, END = ids("rome oslo paris"), ids("and")[0], WORDS.vocab.end


class WordsInCommon(nn.Module):
    """A text's vector is how often it has each word; inner products are divided by 2 on the query's side."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(scale))
        self.config = SimpleNamespace(width=len(WORDS), time=32)

    def forward(self, batch: Any) -> Tensor:
        words = nn.functional.one_hot(batch.tokens, len(WORDS)).sum(1).float()
        return self.scale * words.index_fill(1, torch.tensor(sorted(WORDS.vocab.special)), 0)


@dataclass
class Copied:
    """The inputs of each row, and its answer so far."""

    inputs: Tensor
    texts: Tensor

    def select(self, rows: Tensor) -> None:
        self.inputs, self.texts = self.inputs[rows], self.texts[rows]


class Copying(BART):
    """A generator that generates a town of its input, and then perhaps "and" and a town again."""

    def __init__(self) -> None:
        super().__init__(BARTConfig.tiny(len(WORDS), 32))

    def start(self, source: Any, *_: Any) -> Copied:  # type: ignore[override]
        return Copied(source.tokens, source.tokens[:, :0])

    def decode(self, tokens: Tensor, state: Copied) -> Tensor:
        before = state.texts.shape[1]
        state.texts = torch.cat([state.texts, tokens], 1)
        return torch.stack([torch.stack([self.logits(inputs, text[:end]) for end in range(before + 1, len(text) + 1)])
                            for inputs, text in zip(state.inputs.tolist(), state.texts.tolist(), strict=True)])

    def predict(self, hidden: Tensor, state: Copied) -> Tensor:
        return hidden

    def step(self, tokens: Tensor, state: Copied) -> Tensor:
        return self.decode(tokens, state)[:, -1]

    def logits(self, inputs: list[int], text: list[int]) -> Tensor:
        weights = torch.full((len(WORDS),), 0.002)
        if text[-1] in TOWNS:
            weights[END], weights[AND] = (0.25, 0.7) if len(text) < 4 else (0.9, 0.05)
        else:
            known = [town for town in TOWNS if town in inputs and town not in text]
            weights[list(TOWNS)] = 0.06 if known else 0.3
            weights[known] = 0.85
        return weights.log()


@cache
def model() -> RAGSequence:
    made = RAGSequence(RAGConfig.tiny(len(WORDS), 32))
    made.question_encoder, made.generator = WordsInCommon(0.5), Copying()
    return made


def lookup() -> RetrieveAndGenerate:
    """The model among the documents, in their order."""
    return RetrieveAndGenerate.of(model(), WordsInCommon(1.0), WORDS,
                                  [Block(title, 0, (text,)) for title, text in TOLD.items()])


def lab(**traits: Any) -> RetrievalLab:
    """The lab at its first preset, or another text."""
    return RetrievalLab(lookup(), PRESETS, **traits)
