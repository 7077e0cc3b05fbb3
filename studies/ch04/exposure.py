"""Exposure bias (曝光偏差): what the model's own words cost it, after a mistake.

In training the right words are given (teacher forcing); in use the decoder reads its own. Here a translation is
followed to its first wrong sentence, if that stands where a right one should: a sentence that was left out or added is
no wrong history but a lost place. Two things are asked for, after what the model has written and after the right words:
the ``rest`` of that sentence, behind its wrong word, if it has just one; and the ``next`` sentence. Source and asked
words are the same; only the history differs. For the next sentence there is a third history: a sentence that belongs
to another passage, put by hand where the mistake was.

Fewer than 20 such mistakes tell nothing; then there is no figure. The ``rest`` is asked of mistakes that came to one
wrong word: where it led to others, there is no right rest to ask for, so that this finds no harm that spreads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch04.arms import LONGER, SEEDS
from plmlab.chapters.ch04.translation import ids, pairs, pieces, test_set, tokenizer, translations
from plmlab.decode import ConditionedDecoder
from plmlab.models.seq2seq import Seq2Seq
from plmlab.models.transformer import Transformer
from plmlab.recipes import Parts, seed_statistics
from plmlab.world.datasets.passages import Passage, Words
from studies.ch04.trainings import STUDY

ASKED = {"fixed": 30, "general": 60, "general, 32": 30}
"""Arm → the length of the passages, in words, that it is asked about: long enough that mistakes are made."""
COUNT, ENOUGH = 300, 20
HISTORIES = {"rest": ("right", "own"), "next": ("right", "own", "another's")}


@dataclass(frozen=True)
class Mistake:
    """A wrong sentence in the place of a right one, with another behind it: the ``passage``, the ``right`` pieces up to
    that sentence, it included, the model's ``own``, and the sentence that comes ``next``."""

    passage: Passage
    right: tuple[Words, ...]
    own: tuple[Words, ...]
    next: Words

    def asked(self, what: str, history: str, strange: Words) -> tuple[Words, Words] | None:
        """A history and the right words to ask for behind it: the "rest" of the sentence or the "next" one; None where
        there is no such rest. ``strange``: a sentence of another passage."""
        before, right, own = sum(self.right[:-1], ()), self.right[-1], self.own[-1]
        if what == "next":
            return before + {"right": right, "own": own, "another's": strange}[history], self.next
        wrong = [position for position, (one, other) in enumerate(zip(right, own, strict=False)) if one != other]
        if len(right) != len(own) or len(wrong) != 1 or wrong[0] + 1 == len(right):
            return None
        return before + (right if history == "right" else own)[:wrong[0] + 1], right[wrong[0] + 1:]


def first_mistakes(written: Sequence[Words], some: Sequence[Passage]) -> list[Mistake]:
    """The first wrong sentence of each translation that has one, if it stands in the place of as many right ones, is
    whole, and another follows it."""
    found = []
    for text, passage in zip(written, some, strict=True):
        ours, theirs = pieces(text), pieces(passage.chinese)
        changes = [change for change in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes()
                   if change[0] != "equal"]
        if not changes:
            continue
        kind, place, end, begin, until = changes[0]
        if kind == "replace" and end - place == until - begin and place + 1 < len(theirs) and ours[place][-1] in "。？":
            found.append(Mistake(passage, tuple(theirs[:place + 1]), tuple(ours[:place + 1]), theirs[place + 1]))
    return found


@torch.no_grad()
def cost(model: Seq2Seq | Transformer, passage: Passage, history: Words, following: Words) -> tuple[float, bool]:
    """The loss of some words in nats a word after a history, and whether each of them is the likeliest."""
    vocab = tokenizer().vocab
    given = ConditionedDecoder(model.eval(), pairs([passage]).source)
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
    """``mistakes``: how many can be asked about; ``wrong``: the share of passages that are wrong anywhere; and what is
    asked → history → how many are ``asked``, the ``loss`` in nats a word and the share that is all ``right``, None
    where there are too few."""
    model, some = STUDY.trained(folder, name, updates=LONGER, seed=seed), test_set(ASKED[name], f"exposure {seed}",
                                                                                   COUNT)
    written = translations(model, some)
    found = first_mistakes(written, some)
    told: dict[str, Any] = {"mistakes": len(found), "wrong": fmean(
        text != passage.chinese for text, passage in zip(written, some, strict=True))}
    for what, histories in HISTORIES.items():
        told[what] = {}
        for history in histories:
            asked = [(one.passage, one.asked(what, history, other.right[-1]))
                     for one, other in zip(found, [*found[1:], *found[:1]], strict=True)]
            costs = [cost(model, passage, *question) for passage, question in asked if question]
            told[what][history] = {"asked": len(costs), "loss": fmean(lost for lost, _ in costs),
                                   "right": fmean(right for _, right in costs)} if len(costs) >= ENOUGH else None
    return told


def measure(parts: Parts) -> dict[str, Any]:
    """Arm → ``aim``, ``mistakes`` and ``wrong`` with spread, and what is asked → history → ``asked``, ``loss`` and
    ``right`` over the seeds that have enough mistakes, with spread; None where no seed has."""
    folder = str(parts.folder)
    runs = parts(after_mistakes, [(folder, name, seed) for name in ASKED for seed in SEEDS])

    def over(name: str, what: str, history: str) -> dict[str, Any] | None:
        told = {seed: runs[folder, name, seed][what][history] for seed in SEEDS}
        enough = {seed: one for seed, one in told.items() if one}
        return seed_statistics(enough) if enough else None

    return {name: {"aim": aim} | seed_statistics({
        seed: {figure: runs[folder, name, seed][figure] for figure in ("mistakes", "wrong")} for seed in SEEDS}) | {
        what: {history: over(name, what, history) for history in histories} for what, histories in HISTORIES.items()}
        for name, aim in ASKED.items()}
