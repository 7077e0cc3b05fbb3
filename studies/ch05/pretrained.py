"""What chapter 05 takes vectors from, pretrained three times over on as many sentences of the full world each.

ELMo's bidirectional language model; the same with a table of word vectors where ELMo has characters; and CoVe (McCann
et al. 2017), the encoder of a translator with attention. Smaller and trained for fewer updates than what comes with the
course, so that three seeds are at hand.
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
"""The share of words that a model with a table reads as [UNK] in training, so that it knows what to make of one."""
KINDS = ("characters", "words", "translation")


class WordELMo(ELMo):
    """An ELMo whose token layer is a table of word vectors."""

    def __init__(self, config: ELMoConfig) -> None:
        super().__init__(config)
        del self.bilm.token
        self.table = nn.Embedding(config.vocab, config.model)

    def words(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time model"]:
        """The vectors of words; in training, one in twenty is [UNK]'s."""
        if self.training:
            dropped = torch.rand(tokens.shape, device=tokens.device) < UNKNOWN
            tokens = tokens.masked_fill(dropped, world_tokenizer().vocab.need("unk"))
        return self.table(tokens)

    def layers(self, sentences: Sequence[Sequence[str]]) -> list[Float[Tensor, "batch time both"]]:
        """One tensor a layer, of sentences between their begin and their end; a word that the vocabulary lacks is
        [UNK]."""
        vocab = world_tokenizer().vocab
        rows = [torch.tensor([vocab.need("start"), *ids(words), vocab.need("end")]) for words in sentences]
        tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=vocab.need("pad"))
        return self.bilm.read(self.bilm.embedded(self.table(tokens)), tokens != vocab.need("pad"))


@cache
def chinese() -> Tokenizer:
    """One token for each word of the full world's sentences, English and Chinese."""
    return build_world_tokenizer(world.full(), texts=["sentences"])


def build(kind: str, seed: int) -> Any:
    """A model with random weights."""
    torch.manual_seed(seed)
    if kind == "translation":
        return BidirectionalSeq2Seq(Seq2SeqConfig(len(chinese()), layers=LAYERS, model=2 * WIDTH))
    made = (WordELMo if kind == "words" else ELMo)(
        replace(ELMoConfig.tiny(len(world_tokenizer())), model=WIDTH, hidden=2 * WIDTH, layers=LAYERS))
    made.set_spelling(world_tokenizer())
    return made


def texts(kind: str, seed: int, split: str = "train") -> ExampleBatches:
    """What is read: sentences from both ends, or with their translations; as many each time."""
    if kind != "translation":
        return sentence_batches(world.full(), split, world_tokenizer(), bidirectional_lm, BATCH, seed)
    words = chinese()

    def draw(rng: Random) -> list[Any]:
        some = islice(world.full().translations(split, seed=int(rng.random() * 2**53)), BATCH)
        return [sequence_to_sequence(*(words.encode(" ".join(side), plain=True) for side in pair), vocab=words.vocab)
                for pair in some]

    return ExampleBatches(draw, seed, words.vocab.need("pad"))


def train(model: nn.Module, kind: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Pretrain a model for so many updates; the run's history."""
    return fit(model, texts(kind, seed), steps=updates, lr=lr, warmup=updates // 15, **options)


@torch.no_grad()
def loss(run: Run) -> float:
    """The loss on new sentences of the test, in nats a target."""
    [kind] = run.arm
    held_out = [texts(kind, 77, "test")(step) for step in range(HELD_OUT)]
    sizes = [int((batch.targets != IGNORE).sum()) for batch in held_out]
    return sum(float(run.model.loss(batch)) * size for batch, size in zip(held_out, sizes, strict=True)) / sum(sizes)


def development(run: Run) -> float:
    """Minus the loss that is told, too: these models are no exam's subject, only what its vectors come from."""
    return -loss(run)


def test(run: Run) -> dict[str, float]:
    """The ``loss``."""
    return {"loss": loss(run)}


STUDY = Study(name="pretrained", arms={(kind,): (3e-3, 1e-2) for kind in KINDS}, build=build, train=train,
              development=development, test=test, updates=(UPDATES,), pilot_updates=500, seeds=SEEDS, pilots=PILOTS,
              nothing=-log(len(world_tokenizer())))


def pretrained(folder: str, kind: str, seed: int) -> Any:
    """A model that was kept, in evaluation mode."""
    return STUDY.trained(folder, kind, updates=UPDATES, seed=seed)


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """Kind → ``lr``, the ``rates`` tried, ``loss`` with spread, and ``parameters``; the folder of the parts keeps the
    models."""
    return {kind: {"parameters": sum(weight.numel() for weight in build(kind, 0).parameters()), **found.told()}
            for (kind, _), found in study.measure(parts).items()}
