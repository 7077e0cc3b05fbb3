"""Pretraining of the three models of chapter 05, with three seeds each, on the same number of sentences of the full
world.

The models are ELMo's bidirectional language model; the same model with word embeddings instead of character input; and
CoVe (McCann et al. 2017), the encoder of a translation model with attention. They are smaller than the bundled
checkpoints and trained for fewer updates, so that three seeds are affordable.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from math import log
from random import Random
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch05.tasks import PILOTS, SEEDS
from plmlab.example import IGNORE
from plmlab.models.elmo import ELMo, ELMoConfig
from plmlab.models.seq2seq import BidirectionalSeq2Seq, Seq2SeqConfig
from plmlab.objectives import bidirectional_lm, sequence_to_sequence
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study
from plmlab.text import Tokenizer
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import build_world_tokenizer, ids, world_tokenizer

UPDATES, BATCH = 1500, 64
HELD_OUT = 10
WIDTH, LAYERS = 96, 2
UNKNOWN = 0.05
"""Fraction of words replaced by [UNK] in training with word embeddings, so that [UNK] has a trained embedding."""
KINDS = ("characters", "words", "translation")


class WordELMo(ELMo):
    """An ELMo whose token layer is a word embedding matrix."""

    def __init__(self, config: ELMoConfig) -> None:
        super().__init__(config)
        del self.bilm.token
        self.table = nn.Embedding(config.vocab, config.model)

    def words(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time model"]:
        """Word embeddings; in training, 5 % of the words are replaced by [UNK]."""
        if self.training:
            dropped = torch.rand(tokens.shape, device=tokens.device) < UNKNOWN
            tokens = tokens.masked_fill(dropped, world_tokenizer().vocab.need("unk"))
        return self.table(tokens)

    def layers(self, sentences: Sequence[Sequence[str]]) -> list[Float[Tensor, "batch time both"]]:
        """Outputs of all layers for sentences with [START] and [END]; out-of-vocabulary words become [UNK]."""
        vocab = world_tokenizer().vocab
        rows = [torch.tensor([vocab.need("start"), *ids(words), vocab.need("end")]) for words in sentences]
        tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=vocab.need("pad"))
        return self.bilm.read(self.bilm.embedded(self.table(tokens)), tokens != vocab.need("pad"))


@cache
def chinese() -> Tokenizer:
    """Tokenizer with one token per word of the full world's sentences, English and Chinese (cached)."""
    return build_world_tokenizer(world.full(), texts=["sentences"])


def build(kind: str, seed: int) -> Any:
    """Return an untrained model, initialized with ``seed``."""
    torch.manual_seed(seed)
    if kind == "translation":
        return BidirectionalSeq2Seq(Seq2SeqConfig(len(chinese()), layers=LAYERS, model=2 * WIDTH))
    model = (WordELMo if kind == "words" else ELMo)(
        replace(ELMoConfig.tiny(len(world_tokenizer())), model=WIDTH, hidden=2 * WIDTH, layers=LAYERS))
    model.set_spelling(world_tokenizer())
    return model


def texts(kind: str, seed: int, split: str = "train") -> ExampleBatches:
    """Training batches with the same number of sentences: single sentences for the bidirectional LM, sentences with
    their translations for CoVe."""
    if kind != "translation":
        return sentence_batches(world.full(), split, world_tokenizer(), bidirectional_lm, BATCH, seed)
    words = chinese()

    def draw(rng: Random) -> list[Any]:
        translations = islice(world.full().translations(split, seed=int(rng.random() * 2**53)), BATCH)
        return [sequence_to_sequence(*(words.encode(" ".join(side), plain=True) for side in pair), vocab=words.vocab)
                for pair in translations]

    return ExampleBatches(draw, seed, words.vocab.need("pad"))


def train(model: nn.Module, kind: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Pretrain a model for ``updates`` steps and return the run's history."""
    return fit(model, texts(kind, seed), steps=updates, lr=lr, warmup=updates // 15, **options)


@torch.no_grad()
def loss(run: Run) -> float:
    """Loss on new test sentences, in nats per target."""
    [kind] = run.arm
    held_out = [texts(kind, 77, "test")(step) for step in range(HELD_OUT)]
    sizes = [int((batch.targets != IGNORE).sum()) for batch in held_out]
    return sum(float(run.model.loss(batch)) * size for batch, size in zip(held_out, sizes, strict=True)) / sum(sizes)


def development(run: Run) -> float:
    """The negative of the reported loss. These models are not evaluated themselves, only their vectors."""
    return -loss(run)


def test(run: Run) -> dict[str, float]:
    """Return the ``loss``."""
    return {"loss": loss(run)}


STUDY = Study(name="pretrained", arms={(kind,): (3e-3, 1e-2) for kind in KINDS}, build=build, train=train,
              development=development, test=test, updates=(UPDATES,), pilot_updates=500, seeds=SEEDS, pilots=PILOTS,
              nothing=-log(len(world_tokenizer())))


def pretrained(folder: str, kind: str, seed: int) -> Any:
    """Load a pretrained model in evaluation mode."""
    return STUDY.trained(folder, kind, updates=UPDATES, seed=seed)


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """Kind → ``lr``, the ``rates`` tried, ``loss`` with spread, and ``parameters``; the models are stored in the folder
    of ``parts``."""
    return {kind: {"parameters": sum(weight.numel() for weight in build(kind, 0).parameters()), **outcome.as_record()}
            for (kind, _), outcome in study.measure(parts).items()}
