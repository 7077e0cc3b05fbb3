"""Models for the tests of the Alignment Lab: one whose looks decide its words by construction, and ones of random
weights."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from plmlab import world
from plmlab.example import Batch
from plmlab.labs import AlignmentLab
from plmlab.layers.hooks import HookPoint
from plmlab.models.seq2seq import AdditiveSeq2Seq, DotSeq2Seq, GeneralSeq2Seq, Seq2Seq, Seq2SeqConfig
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.world.datasets.tokenizer import build_world_tokenizer

SMALL = world.small()
WORDS = build_world_tokenizer(SMALL, texts=["sentences"])
SINGING = "the girls sing ."
TURNED = "the key near the tables is dirty ."
KINDS = (DotSeq2Seq, GeneralSeq2Seq, AdditiveSeq2Seq, Transformer)
SURE = 0.75
"""The weight that a pointer puts on the position that it looks at; its other weight is shared out evenly."""


def dictionary() -> dict[int, int]:
    """English id → Chinese id, for words of the small world that have one translation of one word."""
    found = {}
    for word in SMALL.vocabulary:
        said = {reading.chinese[0] for reading, _ in SMALL.lexicon.readings.get(word, ()) if len(reading.chinese) == 1}
        if len(said) == 1 and (one := said.pop()) in WORDS.backend.get_vocab():
            found[WORDS.id(word)] = WORDS.id(one)
    return found | {WORDS.id("the"): WORDS.id("那些"), WORDS.id("."): WORDS.id("。"),
                    WORDS.vocab.need("end"): WORDS.vocab.need("end")}


@dataclass
class Size:
    """What a lab asks of a model's config."""

    vocab: int = field(default=len(WORDS))


@dataclass
class Pointing:
    """A source, and how many words of the target are written."""

    source: Tensor
    written: int = 0

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order."""
        self.source = self.source[rows]


class Pointer(nn.Module):
    """Looks at one position of the source after another, in ``order`` and else from left to right, and writes the
    translation of what it looks at: each position's word has as much probability as weight."""

    def __init__(self, *order: int) -> None:
        super().__init__()
        self.config, self.order = Size(), order
        self.cross_attention = nn.Module()
        self.cross_attention.weights = HookPoint()
        table = torch.full((len(WORDS),), WORDS.vocab.need("unk"))
        for english, chinese in dictionary().items():
            table[english] = chinese
        self.register_buffer("table", table)

    def start(self, source: Batch) -> Pointing:
        return Pointing(source.tokens)

    def step(self, tokens: Tensor, state: Pointing) -> Tensor:
        positions = state.source.shape[1]
        position = min(self.order[state.written] if state.written < len(self.order) else state.written, positions - 1)
        weights = torch.full((len(tokens), 1, 1, positions), (1 - SURE) / max(positions - 1, 1))
        weights[..., position] = SURE
        weights = self.cross_attention.weights(weights)
        state.written += 1
        said = torch.zeros(len(tokens), len(WORDS)).scatter_add_(1, self.table[state.source], weights[:, 0, 0])
        return (said + 1e-9).log()


def random_model(kind: Any, size: int = len(WORDS)) -> nn.Module:
    """Loud random weights, so that words and looks differ."""
    config = (TransformerConfig(size, layers=2, model=16, heads=2, inner=32) if kind is Transformer
              else Seq2SeqConfig(size, model=16))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = kind(config)
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=0.4)
    return model.eval()


FIXED = random_model(Seq2Seq)


def pointing(*order: int, text: str = SINGING, **more: Any) -> AlignmentLab:
    """The lab of a pointer, with a model without attention beside it."""
    return AlignmentLab({"pointer": Pointer(*order), "fixed": FIXED}, WORDS, text, world=SMALL, **more)
