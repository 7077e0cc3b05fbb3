"""`plmlab pretrain`: a tokenizer and a model trained from nothing on a text, kept as a checkpoint."""

import hashlib
import shlex
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import exp
from pathlib import Path
from typing import Any

import torch
from torch import nn

from plmlab.checkpoints import save
from plmlab.models.registry import find
from plmlab.text import Tokenizer, TokenStream, examples, paragraphs, read
from plmlab.train import History, fit

KINDS = {"gpt": "gpt", "gpt2": "gpt2", "bert": "bert-pretraining"}
"""What a person calls the model → the model type that is pretrained."""

HELD_OUT = 0.05
SAVE_EVERY = 250
MASKED_BATCHES = 20
"""How many batches of held-out examples a masked model is judged on."""


@dataclass(frozen=True)
class Plan:
    """What to train, on what, how long, and where to; see ``plmlab pretrain --help``."""

    model: str
    corpus: str
    out: str
    steps: int = 1000
    batch: int = 32
    time: int = 64
    vocab: int = 2000
    layers: int = 4
    width: int = 128
    heads: int = 4
    lr: float = 1e-3
    seed: int = 0

    def __post_init__(self) -> None:
        if self.model not in KINDS:
            raise ValueError(f"{self.model!r} can't be pretrained; choose one of {', '.join(KINDS)}")
        for name in ("steps", "batch", "vocab", "layers", "width", "heads"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name} is {getattr(self, name)}; give a whole number, 1 or more")
        if self.time < 4:
            raise ValueError(f"--time is {self.time}; an example needs at least 4 tokens")
        if self.width % self.heads:
            raise ValueError(f"--width {self.width} can't be shared out among {self.heads} heads; give a multiple")
        folder = Path(self.out)
        if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise ValueError(f"{folder} is there already, and what is in it stays: give another --out, or remove it")

    @property
    def command(self) -> str:
        """The command line of this plan."""
        told = [f"--{name} {shlex.quote(str(value))}" for name, value in asdict(self).items() if name != "model"]
        return " ".join(["plmlab pretrain", self.model, *told])

    @property
    def run(self) -> Path:
        """Where the state of the run is kept until it is done: another plan has another place."""
        mark = hashlib.sha256(self.command.encode()).hexdigest()[:8]
        return Path(self.out).with_name(f"{Path(self.out).name}.run-{mark}")


def pretrain(plan: Plan) -> str:
    """Carry the plan out, or go on with it where it was interrupted; what came of it, in a sentence."""
    train, held_out = divide(texts(plan.corpus))
    tokenizer = learn_tokens(plan, train)
    torch.manual_seed(plan.seed)
    model = build(plan, len(tokenizer))
    history = fit(
        model, batches(plan, train, tokenizer), steps=plan.steps, lr=plan.lr, warmup=min(100, plan.steps // 10),
        evaluate=held_out_batches(plan, held_out, tokenizer), evaluate_every=SAVE_EVERY,
        save_to=plan.run, save_every=SAVE_EVERY, resume=True, show=True,
    )
    if history.ended != "completed":
        return f"{history.reason}; the same command goes on from there"
    save(plan.out, model, tokenizer, command=plan.command, figures=figures(history))
    shutil.rmtree(plan.run, ignore_errors=True)
    return f"{history.finding()}; the checkpoint is in {plan.out}"


def texts(corpus: str) -> list[str]:
    """The paragraphs of the Wikipedia sample, or of a reader's file."""
    return paragraphs() if corpus == "wikipedia" else read(corpus)


def divide(whole: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The beginning, to train on, and the end, to judge by."""
    cut = len(whole) - max(1, round(HELD_OUT * len(whole)))
    if cut < 1:
        raise ValueError("the corpus is a single paragraph: nothing of it can be held out to judge by; "
                         "set its paragraphs apart by blank lines")
    return whole[:cut], whole[cut:]


def learn_tokens(plan: Plan, lines: Sequence[str]) -> Tokenizer:
    """Byte pairs for GPT, word pieces for BERT, as in their papers."""
    learn = Tokenizer.wordpiece if plan.model == "bert" else Tokenizer.bpe
    return learn(lines, plan.vocab)


def build(plan: Plan, vocab: int) -> nn.Module:
    """A new model of the planned size."""
    kind = find(KINDS[plan.model])
    size: dict[str, Any] = {"layers": plan.layers, "model": plan.width, "heads": plan.heads}
    if plan.model == "bert":
        size["inner"] = 4 * plan.width
    return kind.model(replace(kind.config.tiny(vocab, plan.time), **size))  # type: ignore[attr-defined]


def batches(plan: Plan, lines: Sequence[str], tokenizer: Tokenizer) -> Any:
    """Step → batch: windows of a stream for GPT, masked examples for BERT ([CLS] and [SEP] come on top)."""
    if plan.model == "bert":
        return examples(lines, tokenizer, "masked", plan.batch, plan.seed, plan.time - 2)
    return TokenStream.from_texts(lines, tokenizer).windows(plan.batch, plan.time, plan.seed)


def held_out_batches(plan: Plan, lines: Sequence[str], tokenizer: Tokenizer) -> Iterable[Any]:
    """What the model is judged by: the whole held-out stream, or a fixed draw of masked examples."""
    if plan.model == "bert":
        draw = examples(lines, tokenizer, "masked", plan.batch, plan.seed + 1, plan.time - 2)
        return [draw(i) for i in range(MASKED_BATCHES)]
    return list(TokenStream.from_texts(lines, tokenizer).sequential(plan.batch, plan.time))


def figures(history: History) -> dict[str, float | str]:
    """The numbers that go into the checkpoint's README."""
    held_out = history.validation[-1][1]
    return {
        "held-out loss, nats a token": held_out, "held-out perplexity": exp(held_out),
        "steps": str(len(history.losses)), "tokens read": f"{history.tokens:,}",
        "seconds": f"{history.seconds:.0f}", "device": history.device, "precision": history.precision,
    }
