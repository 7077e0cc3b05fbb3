"""The Four-mask Lab: one sentence, one hidden word, one network, and what it says of the word under four masks."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import traitlets
from torch import nn

from plmlab.interpret.readable import AnyTokenizer, as_ours
from plmlab.labs.base import Change, Computed
from plmlab.labs.four_masks.asking import QUESTION, answer
from plmlab.labs.four_masks.presets import things_to_try
from plmlab.labs.four_masks.reading import BEGIN, CUT, END, Reading, checked_size, readings, said
from plmlab.labs.four_masks.state import Panel, State
from plmlab.labs.shared.beliefs import belief_state
from plmlab.labs.shared.masks import mask_state
from plmlab.labs.shared.notes import joined
from plmlab.labs.shared.sentence import SentenceLab, beginning
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor, Distribution

if TYPE_CHECKING:
    from plmlab.world import World

ADDED = 3
"""[CLS] and two [SEP] stand beside the words, at most."""


class FourMasksLab(SentenceLab):
    """One sentence with one hidden word under all four of UniLM's masks, side by side: what the word's position may
    look at, and why; and what the same weights say of the word, beside the best possible reader under the same mask.

    Args:
        model: one that reads under the four masks and names hidden words: a UniLMPretraining.
        tokenizer: its own.
        text: the sentence to begin with; the first thing to try if None. "[MASK]" is the gap from the start.
        world: a Small World, whose exact posteriors stand beside the model's; the tokenizer must have a token for
            each of its words.
        split: which text of the world.
        hide: the word to hide at the beginning, where it first stands.
        cut: how many words are the source of "sequence to sequence"; about half, and none behind the gap, if None.
        max_tokens: how many tokens are drawn at most, [CLS] and both [SEP] among them.

    ValueError: a model that does not read under the four masks, or does not name tokens; a tokenizer of another model;
    a word to hide that does not stand there.
    """

    title = "Four-mask Lab"
    module = "four_masks/lab.js"
    styles = ("four_masks/lab.css",)
    inputs: ClassVar = ("text", "hidden", "cut", "tried", "max_tokens")
    typed: ClassVar = ("mask",)
    advice: ClassVar = "type words, and at most one [MASK]"

    hidden = traitlets.Int(None, allow_none=True).tag(sync=True)
    cut = traitlets.Int(None, allow_none=True).tag(sync=True)
    tried = traitlets.Int(0).tag(sync=True)

    model: nn.Module

    def __init__(self, model: nn.Module, tokenizer: AnyTokenizer, text: str | None = None,
                 world: "World | None" = None, *, split: str = "train", hide: str | None = None,
                 cut: int | None = None, max_tokens: int = 32) -> None:
        self.model, self.world, self.tokenizer = model, world, as_ours(tokenizer)
        size = checked_size(model, self.tokenizer)
        self.best = None if world is None else BayesOptimalPredictor(world, split, self.tokenizer, size)
        self._exact = lru_cache(32)(self._under_masks)
        tries = [] if world is None else [one.traits() for one in things_to_try(world, split)]
        begin = beginning(text, tries)
        if hide is not None:
            begin["hidden"] = self.place_of(hide, begin["text"], max_tokens)
        if cut is not None:
            begin["cut"] = cut
        super().__init__(begin, tries, {}, max_tokens)

    def summary(self) -> str:
        """The sentence with its gap, and the likeliest word under each mask with its probability."""
        if not self.state:
            return self.message
        shown = ["[MASK]" if place == self.state["hidden"] else token
                 for place, token in enumerate(self.state["tokens"])]
        best = ", ".join(f"{panel['name']} {row['word']} {row['p']:.2f}" for panel in self.state["panels"]
                         for row in panel["belief"]["rows"][:1])
        return f"{' '.join(shown)}: {best}"

    def compute(self, change: Change) -> Computed:
        """The sentence read under each mask. Where the text was edited and no word pressed since, the hidden word stays
        hidden wherever it stands now."""
        ids, note = self.read(self.text, self.max_tokens)
        if (masks := ids.count(self.tokenizer.vocab.need("mask"))) > 1:
            raise ValueError(f"{masks} [MASK] stand in the text, and one word can be hidden at once; what is drawn is "
                             "from before.")
        gap = self._gap(ids, change)
        cut = self._source(ids, gap, change)
        state, missing = self._state(ids, gap, cut)
        return Computed({"hidden": gap, "cut": cut, "state": state, "message": joined(note, missing)}, {"_ids": ids})

    def room(self, ids: Sequence[int], max_tokens: int) -> int:
        """As many as the model has positions for, `ADDED` of them left free."""
        return super().room(ids, max_tokens) - ADDED

    def _gap(self, ids: Sequence[int], change: Change) -> int:
        """The place of the hidden word: a [MASK] that was typed, or what the reader pressed, or where that stands now;
        the middle where nobody has chosen."""
        mask, pressed = self.tokenizer.vocab.need("mask"), change.tried & {"hidden", "tried"}
        if mask in ids:
            if pressed and "text" not in change.tried and self.hidden != ids.index(mask):
                raise ValueError("[MASK] stands in the text, and one word can be hidden at once: write a word in its "
                                 "place to hide another. What is drawn is from before.")
            return ids.index(mask)
        if self.hidden is None:
            return len(ids) // 2
        if self._drawn and not pressed:
            drawn = self._drawn["hidden"]
            return next(iter(self.carried(ids, [drawn])), min(drawn, len(ids) - 1))
        return checked("hidden", self.hidden, ids)

    def _source(self, ids: Sequence[int], gap: int, change: Change) -> int:
        """How many words are the source: as the reader has set it, as far as the sentence has so many."""
        if self.cut is None:
            return min(len(ids) // 2, gap)
        if "cut" not in change.tried:
            return min(self.cut, len(ids) - 1)
        return checked("cut", self.cut, ids)

    def _state(self, ids: Sequence[int], gap: int, cut: int) -> tuple[State, str]:
        """What is drawn, and what is to be said of exact probabilities that are missing."""
        vocab, tokens = self.tokenizer.vocab, self._labels(ids)
        true = None if ids[gap] == vocab.need("mask") else ids[gap]
        asked = readings(ids, gap, cut, vocab)
        beliefs = dict(zip(asked, said(self.model, list(asked.values()), vocab.need("pad")), strict=True))
        hidden = [*tokens[:gap], "", *tokens[gap + 1:]]
        best = dict.fromkeys(asked) if self.best is None else self._exact(tuple(hidden), gap, cut)
        panels = [self._panel(name, reading, tokens, beliefs[name], best[name], true)
                  for name, reading in asked.items()]
        word = None if true is None else tokens[gap]
        state: State = {
            "tokens": tokens, "hidden": gap, "cut": cut, "word": word, "panels": panels,
            "kinds": ["typed" if id == vocab.mask else "unknown" if id == vocab.unk else "word" for id in ids],
            "question": QUESTION, "answer": answer(beliefs, best, true, word),
        }
        without = [] if self.best is None else [f"“{name}”" for name, belief in best.items() if belief is None]
        missing = "" if not without else \
            f"No sentence of the Small World has the words in sight under {', '.join(without)}: there the exact " \
            "probabilities are missing."
        return state, missing

    def _panel(self, name: str, reading: Reading, tokens: Sequence[str], belief: Distribution,
               best: Distribution | None, true: int | None) -> Panel:
        """One mask: what stands in its positions, who may look at whom, and what is believed of the gap."""
        shown = self._labels(reading.example.tokens.tolist())
        special = {BEGIN: shown[0], CUT: f"{shown[-1]} (of the source)", END: shown[-1]}
        if CUT in reading.places:
            special[END] += " (of the target)"
        names = [special[place] if isinstance(place, str) else shown[position] if position == reading.position
                 else named(tokens, place) for position, place in enumerate(reading.places)]
        return {"name": name, "tokens": shown, "names": names, "places": reading.places, "position": reading.position,
                "mask": mask_state(name, reading.example.visible),
                "belief": belief_state(belief, best, true, self._labels)}

    def _under_masks(self, words: tuple[str, ...], gap: int, cut: int) -> Mapping[str, Distribution | None]:
        assert self.best is not None
        return self.best.under_masks(words, gap, cut)


def named(tokens: Sequence[str], place: int) -> str:
    """What a word is called: where it stands twice, by which word of the sentence it is, from 1 on."""
    token = tokens[place]
    return token if list(tokens).count(token) == 1 else f"{token} (word {place + 1})"


def checked(name: str, value: int, ids: Sequence[int]) -> int:
    """The value; a ValueError where the sentence has no such place."""
    if value not in range(len(ids)):
        raise ValueError(f"{name} is {value}; this sentence of {len(ids)} words takes one from 0 to {len(ids) - 1}")
    return value
