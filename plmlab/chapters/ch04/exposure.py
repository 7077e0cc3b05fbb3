"""Exposure bias (曝光偏差): what the next sentence costs after the model's own words, and after the right ones.

In training the right words are given (teacher forcing); in use the decoder reads its own. Here a translation is
followed to its first wrong sentence. The sentence behind it is then asked for twice: after what the model has written,
the mistake included, and after the right text. Source and sentence are the same; only the history differs. Beside them
stands a third history: a sentence that belongs to another passage, put by hand where the mistake was.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch04.arms import LONGER, SEEDS, trained
from plmlab.chapters.ch04.translation import exam, ids, pairs, pieces, spelling, translations
from plmlab.decode import Given
from plmlab.models.seq2seq import Seq2Seq
from plmlab.models.transformer import Transformer
from plmlab.recipes import Parts, spread
from plmlab.world.datasets.passages import Passage, Words

ASKED = {"fixed": 30, "general": 60}
"""Arm → the length of the passages, in words, that it is asked about: long enough that mistakes are made."""
COUNT = 300
HISTORIES = ("own", "right", "another's")


@dataclass(frozen=True)
class Mistake:
    """A wrong sentence with one behind it: the ``passage``, the ``right`` text up to the end of that sentence, the
    model's ``own`` up to there, and the sentence that comes ``next``."""

    passage: Passage
    right: Words
    own: Words
    next: Words


def first_mistakes(written: Sequence[Words], some: Sequence[Passage]) -> list[Mistake]:
    """The first wrong sentence of each translation that has one, if it is whole and another follows it."""
    found = []
    for text, passage in zip(written, some, strict=True):
        ours, theirs = pieces(text), pieces(passage.chinese)
        wrong = next((place for place, piece in enumerate(theirs) if ours[place:place + 1] != [piece]), len(theirs))
        if wrong + 1 < len(theirs) and wrong < len(ours) and ours[wrong][-1] in "。？":
            found.append(Mistake(passage, sum(theirs[:wrong + 1], ()), sum(ours[:wrong + 1], ()), theirs[wrong + 1]))
    return found


@torch.no_grad()
def cost(model: Seq2Seq | Transformer, passage: Passage, history: Words, following: Words) -> tuple[float, bool]:
    """The loss of a sentence in nats a word after a history, and whether each of its words is the likeliest."""
    vocab = spelling().vocab
    given = Given(model.eval(), pairs([passage]).source)
    state = given.start()
    read = [vocab.need("start"), *(ids()[word] for word in history)]
    lost, likeliest = [], []
    for word in following:
        ahead = given.step(torch.tensor([read]), state)[0].log_softmax(-1)
        read = [ids()[word]]
        lost.append(-float(ahead[read[0]]))
        likeliest.append(int(ahead.argmax()) == read[0])
    return fmean(lost), all(likeliest)


def after_mistakes(folder: str, name: str, seed: int) -> dict[str, Any]:
    """``mistakes``: the share of passages with a first mistake that can be asked about; and history → the ``loss`` of
    the sentence behind it, in nats a word, and the share that is all ``right``."""
    model, some = trained(folder, name, LONGER, seed), exam(ASKED[name], f"exposure {seed}", COUNT)
    found = first_mistakes(translations(model, some), some)
    told: dict[str, Any] = {"mistakes": len(found) / COUNT}
    for history in HISTORIES:
        costs = []
        for one, other in zip(found, [*found[1:], *found[:1]], strict=True):
            before = {"own": one.own, "right": one.right,
                      "another's": (*sum(pieces(one.right)[:-1], ()), *pieces(other.right)[-1])}[history]
            costs.append(cost(model, one.passage, before, one.next))
        told[history] = {"loss": fmean(lost for lost, _ in costs), "right": fmean(right for _, right in costs)}
    return told


def measure(parts: Parts) -> dict[str, Any]:
    """Arm → ``aim``, ``mistakes``, and history → ``loss`` and ``right``, all with spread."""
    folder = str(parts.folder)
    runs = parts(after_mistakes, [(folder, name, seed) for name in ASKED for seed in SEEDS])
    return {name: {"aim": aim, "mistakes": spread({seed: runs[folder, name, seed]["mistakes"] for seed in SEEDS})} | {
        history: {what: spread({seed: runs[folder, name, seed][history][what] for seed in SEEDS})
                  for what in ("loss", "right")} for history in HISTORIES} for name, aim in ASKED.items()}
