"""Three softmaxes of ELMos: a row for each word, letters, letters and a correction; the rules were written down before
(`plmlab.chapters.ch05.cnn_softmax`)."""

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
"""Updates of each arm that are timed."""


class CNNSoftmaxELMo(ELMo):
    """An `ELMo` that spells what it says, with a CNN of the same form as the one that it reads with."""

    def make_softmax(self, config: ELMoConfig) -> nn.Module:
        """A CNN softmax."""
        return CNNSoftmax(characters(config))

    def token_logits(self, hidden: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions vocab"]:
        """As in `ELMo`; the vectors of all words are made anew."""
        return self.softmax(hidden, self.codes)


@dataclass(frozen=True)
class CorrectedConfig(ELMoConfig):
    """The same, and how many numbers of its own a word has: ``correction``."""

    correction: int = 128

    @classmethod
    def tiny(cls, vocab: int, time: int = 0) -> Self:
        """As `ELMoConfig.tiny`, with 8 numbers a word."""
        return replace(super().tiny(vocab, time), correction=8)


class CorrectedELMo(CNNSoftmaxELMo):
    """A `CNNSoftmaxELMo` with a correction for each word."""

    def make_softmax(self, config: ELMoConfig) -> nn.Module:
        """A CNN softmax with corrections."""
        assert isinstance(config, CorrectedConfig)
        return CorrectedCNNSoftmax(characters(config), config.vocab, config.correction)


class UnbiasedELMo(ELMo):
    """An `ELMo` whose softmax has a row for each word and no bias, as those that spell have none."""

    def make_softmax(self, config: ELMoConfig) -> nn.Module:
        """A matrix."""
        return nn.Linear(config.model, config.vocab, bias=False)


ARMS: dict[str, Callable[[int], ELMo]] = {
    "full": lambda vocab: UnbiasedELMo(ELMoConfig.tiny(vocab)),
    "CNN": lambda vocab: CNNSoftmaxELMo(ELMoConfig.tiny(vocab)),
    "corrected": lambda vocab: CorrectedELMo(CorrectedConfig.tiny(vocab))}
"""The softmax → an ELMo that has it, from the size of the vocabulary."""


def build(arm: str, seed: int) -> ELMo:
    """An ELMo with random weights of this seed, which knows how the small world's words are spelled."""
    torch.manual_seed(seed)
    model = ARMS[arm](len(small_world_tokenizer()))
    model.set_spelling(small_world_tokenizer())
    return model


def train(model: ELMo, arm: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train an arm for so many updates, on the same sentences whichever it is; the run's history."""
    text = sentence_batches(world.small(), "train", small_world_tokenizer(), bidirectional_lm, BATCH, seed)
    return fit(model, text, steps=updates, lr=lr, warmup=50, **options)


@cache
def test_set(split: str = "test") -> BidirectionalBatch:
    """600 sentences: of the test, the exam; of training text ("train"), those that rates are chosen by."""
    return sentence_batches(world.small(), split, small_world_tokenizer(), bidirectional_lm, 600,
                            5)(0)  # type: ignore[return-value]


def near(words: Sequence[str]) -> dict[str, list[str]]:
    """Word → the other words that are one edit away, where there are any; words of one character are left out."""
    long = sorted({word for word in words if len(word) > 1})
    holed: dict[tuple[str, str], list[str]] = {}
    for word in long:
        for place in range(len(word)):
            holed.setdefault((word[:place], word[place + 1:]), []).append(word)
    found: dict[str, set[str]] = {word: set() for word in long}
    for (before, behind), alike in holed.items():
        shorter = [before + behind] if before + behind in found else []
        for word in alike:
            found[word].update(alike, shorter)
            for one in shorter:
                found[one].add(word)
    return {word: others for word, all_of in found.items() if (others := sorted(all_of - {word}))}


@cache
def neighbours() -> Float[Tensor, "vocab vocab"]:
    """1 where the word of a column is near that of a row, in ids of the small world."""
    told = torch.zeros(len(small_world_tokenizer()), len(small_world_tokenizer()))
    for word, others in near(world.small().vocabulary).items():
        told[small_world_tokenizer().id(word), [small_world_tokenizer().id(other) for other in others]] = 1
    return told


@torch.no_grad()
def development(run: Run) -> float:
    """Minus the loss on new sentences of training text, in nats a target."""
    return -float(run.model.eval().loss(test_set("train")))


@torch.no_grad()
def costs(model: ELMo, batch: BidirectionalBatch) -> dict[str, float]:
    """The loss in nats a target on ``all`` targets; on ``near`` words and on ``others``, where each word counts once,
    however often it is asked; and ``taken``, the probability that goes, where a near word is right, to all that are
    near it."""
    asked = batch.targets != IGNORE
    targets, logprobs = batch.targets[asked], model(batch)[asked].log_softmax(-1)
    lost, beside = -logprobs.gather(-1, targets[:, None])[:, 0], neighbours()[targets]
    is_near = beside.any(-1)
    by_word = {int(word): float(lost[targets == word].mean()) for word in targets.unique()}
    near_words = set(targets[is_near].tolist())
    return {"all": float(lost.mean()), "near": fmean(by_word[word] for word in by_word if word in near_words),
            "others": fmean(by_word[word] for word in by_word if word not in near_words),
            "taken": float((logprobs.exp() * beside).sum(-1)[is_near].mean())}


def test(run: Run) -> dict[str, dict[str, float]]:
    """``costs``: what a trained arm costs in the exam, as `costs` tells."""
    return {"costs": costs(run.model.eval(), test_set())}


STUDY = Study(name="cnn softmax", arms={(arm,): (3e-3, 1e-2, 3e-2) for arm in ARMS}, build=build, train=train,
              development=development, test=test, updates=(UPDATES,), nothing=-log(len(small_world_tokenizer())))


def microseconds(rounds: int) -> dict[str, float]:
    """Arm → the median time of an update, the arms taking turns; the batches are made beforehand."""
    text = sentence_batches(world.small(), "train", small_world_tokenizer(), bidirectional_lm, BATCH, 0)
    models = {arm: build(arm, 0) for arm in ARMS}
    steps = {arm: torch.optim.AdamW(model.parameters(), 1e-3) for arm, model in models.items()}
    seconds: dict[str, list[float]] = {arm: [] for arm in ARMS}
    for batch in [text(step) for step in range(rounds)]:
        for arm, model in models.items():
            begun = perf_counter()
            steps[arm].zero_grad()
            model.loss(batch).backward()  # type: ignore[arg-type]
            steps[arm].step()
            seconds[arm].append(perf_counter() - begun)
    return {arm: 1e6 * median(told) for arm, told in seconds.items()}


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``floor`` in nats a target, ``updates``, ``batch``, ``near``: the near words, ``share``: that of the exam's
    targets that are near; and ``arms``: softmax → its ``parameters``, ``microseconds`` an update, ``lr``, the ``rates``
    tried, and ``costs``: what `costs` tells, with spread."""
    found, times = study.measure(parts), parts(microseconds, [(TIMED,)])[TIMED,]
    targets = test_set().targets
    told = {arm: {"parameters": sum(weight.numel() for weight in build(arm, 0).softmax.parameters()),
                  "microseconds": times[arm], **one.told()} for (arm, _), one in found.items()}
    return {"floor": world.small().entropy("test").token, "updates": UPDATES, "batch": BATCH,
            "near": list(near(world.small().vocabulary)),
            "share": float(neighbours().any(-1)[targets[targets != IGNORE]].float().mean()), "arms": told}
