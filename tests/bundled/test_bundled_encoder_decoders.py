"""The bundled BART and T5 reach the figures that their READMEs state, on held-out documents of the Small World."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import log
from operator import eq
from pathlib import Path
from typing import Any

import pytest
import torch
from readmes import stated

from plmlab import world
from plmlab.checkpoints import home, load
from plmlab.decode import ConditionedDecoder, greedy_texts
from plmlab.example import IGNORE, PairBatch, PairExample
from plmlab.models.registry import type_of
from plmlab.objectives.sequences import pair
from plmlab.pretraining.material import WORLD_HELD_OUT, fitting
from plmlab.pretraining.plan import commanded
from plmlab.world.datasets.documents import document_batches
from plmlab.world.datasets.tokenizer import build_world_tokenizer

NAMES, GENERATED, LENGTH, COUNTED = ("bart-world", "t5-world"), 200, 100, 4000
"""Documents that are generated, maximum number of tokens of one, and training documents of the unigram model."""
FIGURES = {"loss": "held-out loss", "articles": "loss on training articles",
           "unigram": "held-out loss of a unigram model", "untrained": "held-out loss of the untrained model",
           "other source": "held-out loss with the source of another document",
           "exact": "fraction of held-out targets generated exactly",
           "other exact": "fraction of held-out targets generated exactly from the source of another document"}
"""Figure → how its row in the README begins."""


@dataclass(frozen=True)
class Bundled:
    """A checkpoint with the options of its command."""

    model: Any
    tokenizer: Any
    options: dict[str, Any]

    @classmethod
    @cache
    def load(cls, folder: Path) -> "Bundled":
        """Load a checkpoint."""
        return cls(*load(folder), commanded(folder))

    def examples(self, split: str, count: int, seed: int, **options: Any) -> list[PairExample]:
        """English documents, corrupted as in pretraining."""
        pretraining, time, batch = type_of(self.model).pretraining, self.options["time"], self.options["batch"]
        assert pretraining is not None
        batches = document_batches(world.full(), split, self.tokenizer, fitting(pretraining.objective, time), batch,
                                   seed, longest=time - pretraining.added, **options)
        found: list[Any] = [example for i in range(-(-count // batch)) for example in batches.examples(i)]
        return found[:count]

    def batches(self, examples: Sequence[PairExample], size: int) -> list[PairBatch]:
        """The examples in batches."""
        return [PairBatch.of(examples[start:start + size], pad=self.tokenizer.vocab.need("pad"))
                for start in range(0, len(examples), size)]

    @torch.no_grad()
    def loss(self, model: Any, examples: Sequence[PairExample]) -> float:
        """Nats per target."""
        nats, count = 0.0, 0
        for batch in self.batches(examples, self.options["batch"]):
            targets = int((batch.targets != IGNORE).sum())
            nats, count = nats + float(model.loss(batch)) * targets, count + targets
        return nats / count

    @torch.no_grad()
    def exact(self, examples: Sequence[PairExample], wanted: Sequence[PairExample]) -> float:
        """The fraction of the ``wanted`` targets that greedy decoding generates from the sources of the examples."""
        right, vocab = 0, self.tokenizer.vocab
        for batch, other in zip(self.batches(examples, 50), self.batches(wanted, 50), strict=True):
            texts = greedy_texts(ConditionedDecoder(self.model, batch.source), len(batch.targets), vocab, length=LENGTH)
            targets = [tuple(token for token in row if token not in (IGNORE, vocab.start, vocab.end))
                       for row in other.targets.tolist()]
            right += sum(map(eq, texts, targets))
        return right / len(examples)

    def untrained(self) -> Any:
        """The same model with random weights."""
        torch.manual_seed(0)
        return type(self.model)(self.model.config).eval()

    def figures(self, count: int, generated: int) -> dict[str, float]:
        """The `FIGURES`."""
        found = self.examples("test", count, self.options["seed"] + 1)
        others = [pair(other.source.tokens.tolist(), one.target)
                  for one, other in zip(found, rolled(found), strict=True)]
        train = self.examples("train", COUNTED, self.options["seed"])
        return {"loss": self.loss(self.model, found), "untrained": self.loss(self.untrained(), found),
                "articles": self.loss(self.model, self.examples("train", count, self.options["seed"] + 1, articles=1)),
                "unigram": unigram_loss(train, found, len(self.tokenizer)),
                "other source": self.loss(self.model, others),
                "exact": self.exact(found[:generated], found[:generated]),
                "other exact": self.exact(rolled(found[:generated]), found[:generated])}


def rolled(examples: Sequence[PairExample]) -> list[PairExample]:
    """The examples, each in the place of the one before it."""
    return [*examples[1:], examples[0]]


def unigram_loss(train: Sequence[PairExample], test: Sequence[PairExample], vocab: int) -> float:
    """The loss per target of a model that predicts each token by its frequency among the training targets plus one."""
    counts = Counter(token for one in train for token in one.target.targets.tolist())
    total = counts.total() + vocab
    targets = [token for one in test for token in one.target.targets.tolist()]
    return -sum(log((counts[token] + 1) / total) for token in targets) / len(targets)


@pytest.mark.bundled
@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_reaches_the_figures_of_its_readme(name: str) -> None:
    reached = Bundled.load(home() / name).figures(WORLD_HELD_OUT, GENERATED)
    for figure, row in FIGURES.items():
        assert reached[figure] == pytest.approx(stated(name, row), rel=5e-3, abs=0.006), figure
    assert reached["loss"] < reached["unigram"] < reached["untrained"]
    assert reached["loss"] < reached["other source"] and reached["exact"] > reached["other exact"]


@pytest.mark.parametrize("name", NAMES)
def test_ten_documents_have_their_loss(name: str, same_ten: Callable[[str, float], None]) -> None:
    bundled = Bundled.load(home() / name)
    same_ten(name, bundled.loss(bundled.model, bundled.examples("test", 10, bundled.options["seed"] + 1)))


@pytest.mark.parametrize("name", NAMES)
def test_its_tokens_are_the_words_of_its_corpus(name: str) -> None:
    tokenizer = Bundled.load(home() / name).tokenizer
    assert tokenizer.fingerprint == build_world_tokenizer(world.full(), ["english"]).fingerprint
