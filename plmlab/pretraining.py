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
from plmlab.objectives import causal, masked
from plmlab.text import Tokenizer, TokenStream, examples, paragraphs, read_texts
from plmlab.train import History, fit
from plmlab.world.probability.floors import Floor

KINDS = {"gpt": "gpt", "gpt2": "gpt2", "bert": "bert-pretraining"}
"""What a person calls the model → the model type that is pretrained."""

HELD_OUT = 0.05
SAVE_EVERY = 250
MASKED_BATCHES = 20
"""How many batches of held-out examples a masked model is judged on."""
WORLD_HELD_OUT = 2000
"""How many test sentences of the Small World a model is judged on, rounded up to whole batches."""


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


@dataclass(frozen=True)
class Material:
    """What a model is trained on and judged by; the held-out text's floor is known where it is the Small World's."""

    tokenizer: Tokenizer
    batches: Any
    held_out: Iterable[Any]
    floor: Floor | None = None


def pretrain(plan: Plan) -> str:
    """Carry the plan out, or go on with it where it was interrupted; what came of it, in a sentence."""
    material = from_world(plan) if plan.corpus == "world" else from_texts(plan, texts(plan.corpus))
    torch.manual_seed(plan.seed)
    model = build(plan, len(material.tokenizer))
    history = fit(
        model, material.batches, steps=plan.steps, lr=plan.lr, warmup=min(100, plan.steps // 10),
        evaluate=material.held_out, evaluate_every=SAVE_EVERY,
        save_to=plan.run, save_every=SAVE_EVERY, resume=True, show=True,
        floor=material.floor.mean if material.floor else None,
    )
    if history.ended != "completed":
        return f"{history.reason}; the same command goes on from there"
    save(plan.out, model, material.tokenizer, command=plan.command, figures=figures(history, material.floor))
    shutil.rmtree(plan.run, ignore_errors=True)
    return "; ".join([history.finding(), *beside_floor(history, material.floor),
                      f"the checkpoint is in {plan.out}"])


def from_texts(plan: Plan, whole: Sequence[str]) -> Material:
    """The beginning of a text to train on, its end to judge by, in tokens learned from the former."""
    train, held_out = divide(whole)
    tokenizer = learn_tokens(plan, train)
    return Material(tokenizer, batches(plan, train, tokenizer), held_out_batches(plan, held_out, tokenizer))


def from_world(plan: Plan) -> Material:
    """New sentences of the full Small World for every step, to be judged by its plain test; a token a word.

    For BERT half of each batch are pairs of sentences from articles (``MixedBatches``).
    """
    from plmlab import world
    from plmlab.world.datasets.pair_batches import MixedBatches, PairBatches
    from plmlab.world.datasets.sentence_batches import SentenceBatches
    from plmlab.world.datasets.tokenizer import world_tokenizer
    whole = world.full()
    longest = whole.automaton().longest
    if plan.time < longest + 2:
        raise ValueError(f"--time is {plan.time}; the Small World's longest sentence has {longest} words, and needs "
                         f"{longest + 2} slots")
    told = max(len(sentence.words) for article in whole.articles("train") for sentence in article.sentences)
    if plan.model == "bert" and plan.time < 2 * told + 3:
        raise ValueError(f"--time is {plan.time}; BERT reads pairs of sentences from articles, the longest "
                         f"has {told} words, and needs {2 * told + 3} slots")
    objective, tokenizer = (masked if plan.model == "bert" else causal), world_tokenizer(whole, ["english"])
    held_out = SentenceBatches(whole, "test", tokenizer, objective, plan.batch, plan.seed + 1)
    alone = SentenceBatches(whole, "train", tokenizer, objective, plan.batch, plan.seed)
    half = plan.batch // 2
    return Material(
        tokenizer, alone if plan.model != "bert" else MixedBatches(
            PairBatches(whole, "train", tokenizer, half, plan.seed), replace(alone, batch=plan.batch - half)),
        [held_out(i) for i in range(-(-WORLD_HELD_OUT // plan.batch))],
        whole.floor(objective, split="test", sentences=WORLD_HELD_OUT))


def texts(corpus: str) -> list[str]:
    """The paragraphs of the Wikipedia sample, or of a reader's file."""
    return paragraphs() if corpus == "wikipedia" else read_texts(corpus)


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
        return examples(lines, tokenizer, masked, plan.batch, plan.seed, plan.time - 2)
    return TokenStream.from_texts(lines, tokenizer).windows(plan.batch, plan.time, plan.seed)


def held_out_batches(plan: Plan, lines: Sequence[str], tokenizer: Tokenizer) -> Iterable[Any]:
    """What the model is judged by: the whole held-out stream, or a fixed draw of masked examples."""
    if plan.model == "bert":
        draw = examples(lines, tokenizer, masked, plan.batch, plan.seed + 1, plan.time - 2)
        return [draw(i) for i in range(MASKED_BATCHES)]
    return list(TokenStream.from_texts(lines, tokenizer).sequential(plan.batch, plan.time))


def beside_floor(history: History, floor: Floor | None) -> list[str]:
    """The held-out loss beside its floor, where that is known."""
    if floor is None:
        return []
    loss = history.validation[-1][1]
    return [f"the held-out loss is {loss:.4f}, and its floor {floor}{' (exact)' if floor.exact else ''}: "
            f"{loss / floor.mean - 1:+.1%}"]


def figures(history: History, floor: Floor | None = None) -> dict[str, float | str]:
    """The numbers that go into the checkpoint's README."""
    held_out = history.validation[-1][1]
    known: dict[str, float | str] = {"floor of the held-out text": str(floor)} if floor else {}
    return {
        "held-out loss, nats a token": held_out, "held-out perplexity": exp(held_out), **known,
        "steps": str(len(history.losses)), "tokens read": f"{history.tokens:,}",
        "seconds": f"{history.seconds:.0f}", "device": history.device, "precision": history.precision,
    }
