"""Exposure bias (曝光偏差): how much a model's own errors in the history increase its loss.

In training the decoder's input is the reference (teacher forcing); at inference it is the model's own output. Each
translation is followed up to its first wrong sentence, provided that this sentence replaces a correct one: after an
omitted or added sentence, the history is not wrong but misaligned with the source. The loss is then measured on two
continuations, after the model's own words and after the reference: the ``rest`` of that sentence after its wrong word,
if there is only one wrong word; and the ``next`` sentence. Source and target words are the same; only the history
differs. For the next sentence there is a third history, in which a sentence of another passage replaces the wrong
sentence.

With fewer than 20 such errors no result is given, because it would be unreliable. The ``rest`` is measured only for
sentences with a single wrong word, because an error that caused further errors leaves no reference continuation.
Therefore this measurement cannot detect errors that propagate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch04.arms import LONGER, SEEDS
from plmlab.chapters.ch04.translation import ids, pairs, split_sentences, test_set, tokenizer, translations
from plmlab.decode import ConditionedDecoder
from plmlab.models.seq2seq import Seq2Seq
from plmlab.models.transformer import Transformer
from plmlab.recipes import Parts, seed_statistics
from plmlab.world.datasets.passages import Passage, Words
from studies.ch04.trainings import STUDY

ASKED = {"fixed": 30, "general": 60, "general, 32": 30}
"""Configuration → length of its test passages in words, long enough for errors to occur."""
COUNT, ENOUGH = 300, 20
HISTORIES = {"rest": ("right", "own"), "next": ("right", "own", "another's")}


@dataclass(frozen=True)
class Mistake:
    """A wrong sentence that replaces a correct one and is followed by another sentence.

    Attributes:
        passage: the source passage.
        right: the reference sentences up to and including the one that was translated wrongly.
        own: the model's sentences up to the same point.
        next: the reference for the next sentence.
    """

    passage: Passage
    right: tuple[Words, ...]
    own: tuple[Words, ...]
    next: Words

    def asked(self, what: str, history: str, strange: Words) -> tuple[Words, Words] | None:
        """A history and the reference continuation after it: the "rest" of the sentence or the "next" sentence; None if
        there is no such rest. ``strange`` is a sentence of another passage."""
        before, right, own = sum(self.right[:-1], ()), self.right[-1], self.own[-1]
        if what == "next":
            return before + {"right": right, "own": own, "another's": strange}[history], self.next
        wrong = [index for index, (one, other) in enumerate(zip(right, own, strict=False)) if one != other]
        if len(right) != len(own) or len(wrong) != 1 or wrong[0] + 1 == len(right):
            return None
        return before + (right if history == "right" else own)[:wrong[0] + 1], right[wrong[0] + 1:]


def first_mistakes(written: Sequence[Words], some: Sequence[Passage]) -> list[Mistake]:
    """The first wrong sentence of each translation, provided that the wrong sentences there replace the same number of
    correct ones, that it is complete, and that the reference continues after it."""
    mistakes = []
    for text, passage in zip(written, some, strict=True):
        ours, theirs = split_sentences(text), split_sentences(passage.chinese)
        changes = [change for change in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes()
                   if change[0] != "equal"]
        if not changes:
            continue
        kind, first, end, begin, until = changes[0]
        if kind == "replace" and end - first == until - begin and first + 1 < len(theirs) and ours[first][-1] in "。？":
            mistakes.append(Mistake(passage, tuple(theirs[:first + 1]), tuple(ours[:first + 1]), theirs[first + 1]))
    return mistakes


@torch.no_grad()
def cost(model: Seq2Seq | Transformer, passage: Passage, history: Words, following: Words) -> tuple[float, bool]:
    """The loss on the ``following`` words after a history, in nats per word, and whether each of them is the most
    probable word."""
    vocab = tokenizer().vocab
    given = ConditionedDecoder(model.eval(), pairs([passage]).source)
    state = given.start()
    tokens = [vocab.need("start"), *(ids()[word] for word in history)]
    losses, is_argmax = [], []
    for word in following:
        logprobs = given.step(torch.tensor([tokens]), state)[0].log_softmax(-1)
        tokens = [ids()[word]]
        losses.append(-float(logprobs[tokens[0]]))
        is_argmax.append(int(logprobs.argmax()) == tokens[0])
    return fmean(losses), all(is_argmax)


def after_mistakes(folder: str, name: str, seed: int) -> dict[str, Any]:
    """``mistakes``: the number of usable errors; ``wrong``: the fraction of passages with an error; and continuation →
    history → the number of cases (``asked``), the ``loss`` in nats per word, and the fraction predicted without an
    error (``right``), or None if there are too few cases."""
    model, some = STUDY.trained(folder, name, updates=LONGER, seed=seed), test_set(ASKED[name], f"exposure {seed}",
                                                                                   COUNT)
    written = translations(model, some)
    mistakes = first_mistakes(written, some)
    figures: dict[str, Any] = {"mistakes": len(mistakes), "wrong": fmean(
        text != passage.chinese for text, passage in zip(written, some, strict=True))}
    for what, histories in HISTORIES.items():
        figures[what] = {}
        for history in histories:
            cases = [(one.passage, one.asked(what, history, other.right[-1]))
                     for one, other in zip(mistakes, [*mistakes[1:], *mistakes[:1]], strict=True)]
            costs = [cost(model, passage, *case) for passage, case in cases if case]
            figures[what][history] = {"asked": len(costs), "loss": fmean(loss for loss, _ in costs),
                                      "right": fmean(right for _, right in costs)} if len(costs) >= ENOUGH else None
    return figures


def measure(parts: Parts) -> dict[str, Any]:
    """Configuration → ``aim``, ``mistakes`` and ``wrong`` with spread, and continuation → history → ``asked``, ``loss``
    and ``right`` with spread over the seeds that have enough errors, or None if no seed has."""
    folder = str(parts.folder)
    runs = parts(after_mistakes, [(folder, name, seed) for name in ASKED for seed in SEEDS])

    def over(name: str, what: str, history: str) -> dict[str, Any] | None:
        by_seed = {seed: runs[folder, name, seed][what][history] for seed in SEEDS}
        enough = {seed: figures for seed, figures in by_seed.items() if figures}
        return seed_statistics(enough) if enough else None

    return {name: {"aim": aim} | seed_statistics({
        seed: {figure: runs[folder, name, seed][figure] for figure in ("mistakes", "wrong")} for seed in SEEDS}) | {
        what: {history: over(name, what, history) for history in histories} for what, histories in HISTORIES.items()}
            for name, aim in ASKED.items()}
