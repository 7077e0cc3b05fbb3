"""Three softmax layers for ELMo: one row per word, a character CNN, and a character CNN with a correction per word.

The rules were fixed before the runs (see `plmlab.chapters.ch05.cnn_softmax`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import log
from statistics import fmean, median
from time import perf_counter
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab import world
from plmlab.example import IGNORE, BidirectionalBatch
from plmlab.layers.cnn_softmax import CNNSoftmax, CorrectedCNNSoftmax
from plmlab.models.elmo import ELMo, ELMoConfig, characters
from plmlab.objectives import bidirectional_lm
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_world_tokenizer

UPDATES, BATCH = 1600, 32
TIMED = 60
"""Number of timed updates per configuration."""


class CNNSoftmaxELMo(ELMo):
    """An `ELMo` with a CNN softmax: the output embeddings come from a character CNN with the same architecture as the
    input CNN."""

    def make_softmax(self, config: ELMoConfig) -> nn.Module:
        """Return a CNN softmax."""
        return CNNSoftmax(characters(config))

    def token_logits(self, hidden: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions vocab"]:
        """Token logits, as in `ELMo`; the output embeddings of all words are recomputed."""
        return self.softmax(hidden, self.codes)


@dataclass(frozen=True)
class CorrectedConfig(ELMoConfig):
    """An ELMo configuration with the dimension of the correction per word (``correction``)."""

    correction: int = 128

    @classmethod
    def tiny(cls, vocab: int, time: int = 0) -> Self:
        """`ELMoConfig.tiny` with an 8-dimensional correction."""
        return replace(super().tiny(vocab, time), correction=8)


class CorrectedELMo(CNNSoftmaxELMo):
    """A `CNNSoftmaxELMo` with a learned correction per word."""

    def make_softmax(self, config: ELMoConfig) -> nn.Module:
        """Return a CNN softmax with corrections."""
        assert isinstance(config, CorrectedConfig)
        return CorrectedCNNSoftmax(characters(config), config.vocab, config.correction)


class UnbiasedELMo(ELMo):
    """An `ELMo` with a full softmax without bias, because the CNN softmaxes have none."""

    def make_softmax(self, config: ELMoConfig) -> nn.Module:
        """Return a linear layer without bias."""
        return nn.Linear(config.model, config.vocab, bias=False)


ARMS: dict[str, Callable[[int], ELMo]] = {
    "full": lambda vocab: UnbiasedELMo(ELMoConfig.tiny(vocab)),
    "CNN": lambda vocab: CNNSoftmaxELMo(ELMoConfig.tiny(vocab)),
    "corrected": lambda vocab: CorrectedELMo(CorrectedConfig.tiny(vocab))}
"""Softmax → constructor of an ELMo with it, a function of the vocabulary size."""


def build(arm: str, seed: int) -> ELMo:
    """Return an untrained ELMo with the spelling of the small world's words, initialized with ``seed``."""
    torch.manual_seed(seed)
    model = ARMS[arm](len(small_world_tokenizer()))
    model.set_spelling(small_world_tokenizer())
    return model


def train(model: ELMo, arm: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a model for ``updates`` steps and return the run's history; the data depend only on ``seed``."""
    text = sentence_batches(world.small(), "train", small_world_tokenizer(), bidirectional_lm, BATCH, seed)
    return fit(model, text, steps=updates, lr=lr, warmup=50, **options)


@cache
def test_set(split: str = "test") -> BidirectionalBatch:
    """Batch of 600 sentences: the test set ("test"), or the development set from training text ("train"; cached)."""
    return sentence_batches(world.small(), split, small_world_tokenizer(), bidirectional_lm, 600,
                            5)(0)  # type: ignore[return-value]


def near(words: Sequence[str]) -> dict[str, list[str]]:
    """Map each word to the other words at edit distance 1, if there are any; single-character words are left out."""
    candidates = sorted({word for word in words if len(word) > 1})
    deletions: dict[tuple[str, str], list[str]] = {}
    for word in candidates:
        for index in range(len(word)):
            deletions.setdefault((word[:index], word[index + 1:]), []).append(word)
    near_words: dict[str, set[str]] = {word: set() for word in candidates}
    for (prefix, suffix), alike in deletions.items():
        shorter = [prefix + suffix] if prefix + suffix in near_words else []
        for word in alike:
            near_words[word].update(alike, shorter)
            for deleted in shorter:
                near_words[deleted].add(word)
    return {word: others for word, group in near_words.items() if (others := sorted(group - {word}))}


@cache
def neighbours() -> Float[Tensor, "vocab vocab"]:
    """Neighbour matrix over the small world's token ids, which is 1 if the two words are near (cached)."""
    matrix = torch.zeros(len(small_world_tokenizer()), len(small_world_tokenizer()))
    for word, others in near(world.small().vocabulary).items():
        matrix[small_world_tokenizer().id(word), [small_world_tokenizer().id(other) for other in others]] = 1
    return matrix


@torch.no_grad()
def development(run: Run) -> float:
    """Negative loss on new sentences of training text, in nats per target."""
    return -float(run.model.eval().loss(test_set("train")))


@torch.no_grad()
def costs(model: ELMo, batch: BidirectionalBatch) -> dict[str, float]:
    """Losses in nats per target: over ``all`` targets; and over ``near`` words and ``others``, averaged per word type.

    ``taken``: the mean probability assigned to the words near the target, over the targets that have near words.
    """
    is_target = batch.targets != IGNORE
    targets, logprobs = batch.targets[is_target], model(batch)[is_target].log_softmax(-1)
    losses, is_neighbour = -logprobs.gather(-1, targets[:, None])[:, 0], neighbours()[targets]
    is_near = is_neighbour.any(-1)
    by_word = {int(word): float(losses[targets == word].mean()) for word in targets.unique()}
    near_words = set(targets[is_near].tolist())
    return {"all": float(losses.mean()), "near": fmean(by_word[word] for word in by_word if word in near_words),
            "others": fmean(by_word[word] for word in by_word if word not in near_words),
            "taken": float((logprobs.exp() * is_neighbour).sum(-1)[is_near].mean())}


def test(run: Run) -> dict[str, dict[str, float]]:
    """``costs``: `costs` of a trained model on the test set."""
    return {"costs": costs(run.model.eval(), test_set())}


STUDY = Study(name="cnn softmax", arms={(arm,): (3e-3, 1e-2, 3e-2) for arm in ARMS}, build=build, train=train,
              development=development, test=test, updates=(UPDATES,), nothing=-log(len(small_world_tokenizer())))


def microseconds(rounds: int) -> dict[str, float]:
    """Median time of an update for each configuration, measured in turn; batches are prepared beforehand."""
    text = sentence_batches(world.small(), "train", small_world_tokenizer(), bidirectional_lm, BATCH, 0)
    models = {arm: build(arm, 0) for arm in ARMS}
    steps = {arm: torch.optim.AdamW(model.parameters(), 1e-3) for arm, model in models.items()}
    seconds: dict[str, list[float]] = {arm: [] for arm in ARMS}
    for batch in [text(step) for step in range(rounds)]:
        for arm, model in models.items():
            start = perf_counter()
            steps[arm].zero_grad()
            model.loss(batch).backward()  # type: ignore[arg-type]
            steps[arm].step()
            seconds[arm].append(perf_counter() - start)
    return {arm: 1e6 * median(times) for arm, times in seconds.items()}


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``floor`` in nats per target, ``updates``, ``batch``, ``near``: the near words, ``share``: their fraction of the
    test set's targets; and ``arms``: softmax → its ``parameters``, ``microseconds`` per update, ``lr``, the ``rates``
    tried, and ``costs``: `costs` with spread."""
    outcomes, times = study.measure(parts), parts(microseconds, [(TIMED,)])[TIMED,]
    targets = test_set().targets
    results = {arm: {"parameters": sum(weight.numel() for weight in build(arm, 0).softmax.parameters()),
                     "microseconds": times[arm], **outcome.as_record()} for (arm, _), outcome in outcomes.items()}
    return {"floor": world.small().entropy("test").token, "updates": UPDATES, "batch": BATCH,
            "near": list(near(world.small().vocabulary)),
            "share": float(neighbours().any(-1)[targets[targets != IGNORE]].float().mean()), "arms": results}
