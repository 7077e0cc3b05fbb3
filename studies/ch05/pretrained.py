"""What chapter 05 takes vectors from, pretrained three times over on as many sentences of the full world each.

ELMo's bidirectional language model; the same with a table of word vectors where ELMo has characters; and CoVe (McCann
et al. 2017), the encoder of a translator with attention. Smaller and trained for fewer updates than what comes with the
course, so that three seeds are at hand.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import torch
from jaxtyping import Float, Int
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch05.tasks import PILOTS, SEEDS
from plmlab.example import IGNORE
from plmlab.models.elmo import ELMo, ELMoConfig
from plmlab.models.seq2seq import Seq2SeqConfig, TwoWaySeq2Seq
from plmlab.objectives import sequence_to_sequence, two_way
from plmlab.recipes import Parts, best_rates, spread
from plmlab.text import Tokenizer
from plmlab.train import Diverged, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import ids, spelling, world_tokenizer

STEPS, PILOT_STEPS, BATCH = 1500, 500, 64
"""Updates, those of the runs by which learning rates are chosen, and the sentences of each."""
HELD_OUT = 10
WIDTH, LAYERS = 96, 2
UNKNOWN = 0.05
"""The share of words that a model with a table reads as [UNK] in training, so that it knows what to make of one."""
RATES = (3e-3, 1e-2)
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
            tokens = tokens.masked_fill(dropped, spelling().vocab.need("unk"))
        return self.table(tokens)

    def layers(self, sentences: Sequence[Sequence[str]]) -> list[Float[Tensor, "batch time both"]]:
        """One tensor a layer, of sentences between their begin and their end; a word that the vocabulary lacks is
        [UNK]."""
        vocab = spelling().vocab
        rows = [torch.tensor([vocab.need("start"), *ids(words), vocab.need("end")]) for words in sentences]
        tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=vocab.need("pad"))
        return self.bilm.read(self.bilm.embedded(self.table(tokens)), tokens != vocab.need("pad"))


@cache
def chinese() -> Tokenizer:
    """One token for each word of the full world's sentences, English and Chinese."""
    return world_tokenizer(world.full(), texts=["sentences"])


def build(kind: str, seed: int) -> Any:
    """A model with random weights."""
    torch.manual_seed(seed)
    if kind == "translation":
        return TwoWaySeq2Seq(Seq2SeqConfig(len(chinese()), layers=LAYERS, model=2 * WIDTH))
    made = (WordELMo if kind == "words" else ELMo)(
        replace(ELMoConfig.tiny(len(spelling())), model=WIDTH, hidden=2 * WIDTH, layers=LAYERS))
    made.spell(spelling())
    return made


def texts(kind: str, seed: int, split: str = "train") -> ExampleBatches:
    """What is read: sentences from both ends, or with their translations; as many each time."""
    if kind != "translation":
        return sentence_batches(world.full(), split, spelling(), two_way, BATCH, seed)
    words = chinese()

    def draw(rng: Random) -> list[Any]:
        some = islice(world.full().translations(split, seed=int(rng.random() * 2**53)), BATCH)
        return [sequence_to_sequence(*(words.encode(" ".join(side), plain=True) for side in pair), vocab=words.vocab)
                for pair in some]

    return ExampleBatches(draw, seed, words.vocab.need("pad"))


def trained(kind: str, lr: float, seed: int, steps: int) -> tuple[nn.Module, float]:
    """A model after its updates, in evaluation mode, and its loss on new sentences of the test, in nats a target."""
    model = build(kind, seed)
    fit(model, texts(kind, seed), steps=steps, lr=lr, warmup=steps // 15, show=False)
    held_out = [texts(kind, 77, "test")(step) for step in range(HELD_OUT)]
    sizes = [int((batch.targets != IGNORE).sum()) for batch in held_out]
    with torch.no_grad():
        lost = sum(float(model.loss(batch)) * size  # type: ignore[operator]
                   for batch, size in zip(held_out, sizes, strict=True))
    return model, lost / sum(sizes)


def rate_score(kind: str, lr: float, seed: int) -> float:
    """How good a learning rate is: minus the loss of a shorter run."""
    try:
        return -trained(kind, lr, seed, PILOT_STEPS)[1]
    except Diverged:
        return -1e9


def kept(folder: str, kind: str, seed: int) -> Path:
    """The file that a pretrained model is kept in."""
    return Path(folder) / f"{kind}.{seed}.safetensors"


def pretrain(folder: str, kind: str, lr: float, seed: int) -> dict[str, float]:
    """Pretrain a model and keep it; its ``loss`` on new sentences in nats a target, and how many ``parameters`` it
    has."""
    model, loss = trained(kind, lr, seed, STEPS)
    Path(folder).mkdir(parents=True, exist_ok=True)
    save_file(model.state_dict(), kept(folder, kind, seed))
    return {"loss": loss, "parameters": sum(weight.numel() for weight in model.parameters())}


def pretrained(folder: str, kind: str, seed: int) -> Any:
    """A model that `pretrain` has kept, in evaluation mode."""
    model = build(kind, seed)
    model.load_state_dict(load_file(kept(folder, kind, seed)))
    return model.eval()


def measure(parts: Parts) -> dict[str, Any]:
    """Kind → ``lr``, the ``rates`` tried, ``loss`` with spread, and ``parameters``; the folder of the parts keeps the
    models."""
    best = best_rates(parts, rate_score, PILOTS, {(kind,): RATES for kind in KINDS})
    folder = str(parts.folder)
    runs = parts(pretrain, [(folder, kind, best[kind,][0], seed) for kind in KINDS for seed in SEEDS])
    return {kind: {"lr": lr, "rates": list(scores.items()),
                   "parameters": runs[folder, kind, lr, SEEDS[0]]["parameters"],
                   "loss": spread({seed: runs[folder, kind, lr, seed]["loss"] for seed in SEEDS})}
            for (kind,), (lr, scores) in best.items()}
