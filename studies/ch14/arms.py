"""The variants of chapter 14, trained on the same questions in the same order: three CogQAs and two single-pass
baselines, all initialized with the bundled BERT."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

import torch

from plmlab.chapters.ch14.answering import Outcome, answer_question
from plmlab.chapters.ch14.compared import BOTH, GOLD, TOP
from plmlab.chapters.ch14.training import KINDS, development, pages, pretrained
from plmlab.models.cogqa import CogQA, SelfLoopCogQA
from plmlab.models.cogqa_search import CogQASearch
from plmlab.models.single_pass_reader import SinglePassReader
from plmlab.recipes import device
from plmlab.recipes.stored_models import keep, with_kept
from plmlab.train import History, fit
from plmlab.world.questions.bank import Question
from studies.ch14 import readers
from studies.ch14.learning import UPDATES, learn, on_pretrained

SEEDS = (0, 1, 2)


class Arm(NamedTuple):
    """A CogQA of the class ``kind``, trained and evaluated with or without ``clues``."""

    kind: type[CogQA]
    clues: bool = True


COGQA: Mapping[str, Arm] = {
    BOTH: Arm(SelfLoopCogQA),
    "the paper's adjacency": Arm(CogQA),
    "no clues": Arm(SelfLoopCogQA, clues=False),
}
READERS: Mapping[str, readers.InputPages] = {GOLD: "gold pages", TOP: "retrieved pages"}


def initialized(name: str) -> CogQA | SinglePassReader:
    """A variant before it is trained on questions."""
    return on_pretrained(COGQA[name].kind) if name in COGQA else SinglePassReader.from_pretrained(pretrained())


def train(name: str, lr: float, seed: int, **options: Any) -> tuple[CogQA | SinglePassReader, History]:
    """Train a variant; return it with its history. ``options`` are passed to `fit`."""
    torch.manual_seed(seed)
    model = initialized(name)
    options = {"precision": "float32", "show": False, **options}
    if isinstance(model, CogQA):
        return model, learn(model, UPDATES, lr, seed, clues=COGQA[name].clues, **options)
    texts = readers.batches(READERS[name], seed, model.encoder.config.time)
    return model, fit(model, texts, steps=UPDATES, lr=lr, warmup=UPDATES // 10, compile=False, **options)


def train_arm(folder: str, name: str, lr: float, seed: int) -> dict[str, Any]:
    """Train a variant and save its weights in the recipe's folder. Returns the accuracy on the ``development``
    questions, and the ``device``."""
    model, _ = train(name, lr, seed)
    keep(model, file(folder, name, lr, seed))
    return {"development": development_accuracy(name, model), "device": device()}


def development_accuracy(name: str, model: CogQA | SinglePassReader) -> float:
    """Accuracy of a variant on the development questions, with the same number of each kind."""
    some = [question for kind in sorted(set(KINDS)) for question in development(kind)]
    return fmean(answer(name, model)(question, "train").answer.exact for question in some)


def answer(name: str, model: CogQA | SinglePassReader, kind: type[CogQASearch] = CogQASearch, **choices: Any,
           ) -> Callable[[Question, str], Outcome]:
    """Return a function from (question, split) to the outcome of a variant; a CogQA answers with a graph expansion of
    the class ``kind`` and its ``choices``."""
    if isinstance(model, CogQA):
        clues = COGQA[name].clues
        return lambda question, split: answer_question(model, pages(split), question, kind, clues=clues, **choices)
    time = model.encoder.config.time
    return lambda question, split: readers.answer_from_text(
        model, question, split, readers.input_text(READERS[name], question, split, time, Random(question.text)))


def file(folder: str, name: str, lr: float, seed: int) -> Path:
    """The path of a variant's weights in a recipe's folder."""
    return Path(folder) / f"{name.replace(' ', '-')}-{lr:g}-{seed}.safetensors"


def stored_model(folder: str, name: str, lr: float, seed: int) -> CogQA | SinglePassReader:
    """A variant whose weights `train_arm` has saved."""
    return with_kept(initialized(name), file(folder, name, lr, seed))
