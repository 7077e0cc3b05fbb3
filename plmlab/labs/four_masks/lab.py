"""The Four-mask Lab: one masked word of a sentence, predicted by one network under four attention masks."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import traitlets
from torch import nn

from plmlab.interpret.readable import AnyTokenizer, as_ours
from plmlab.labs.base import Change, Computed
from plmlab.labs.four_masks.presets import default_presets
from plmlab.labs.four_masks.quiz import QUESTION, answer
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
"""The maximum number of special tokens: [CLS] and two [SEP]."""


class FourMasksLab(SentenceLab):
    """One sentence with one masked word under all four of UniLM's attention masks, side by side. For each mask, the lab
    shows which positions the masked position can attend to, and why; and the prediction of the model, which has the
    same weights under all masks, next to the Bayes-optimal prediction.

    Args:
        model: a model pretrained under the four masks, with a masked-language-model head: a UniLMPretraining.
        tokenizer: the model's tokenizer.
        text: the initial sentence; by default, that of the first preset. A word typed as "[MASK]" is masked from the
            start.
        world: a Small World, whose exact posteriors are shown next to the model's predictions; each of its words must
            be a single token of the tokenizer.
        split: the split of the world whose distribution is used.
        hide: the word to mask initially, at its first occurrence.
        cut: the number of source words under "sequence to sequence"; by default about half of the words, but none after
            the masked word.
        max_tokens: the maximum number of tokens, including [CLS] and both [SEP].

    Raises:
        ValueError: if the model was not pretrained under the four masks or has no such head, if the tokenizer belongs
            to another model, or if the word to mask does not occur.
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
        choices = [] if world is None else [preset.traits() for preset in default_presets(world, split)]
        begin = beginning(text, choices)
        if hide is not None:
            begin["hidden"] = self.place_of(hide, begin["text"], max_tokens)
        if cut is not None:
            begin["cut"] = cut
        super().__init__(begin, choices, {}, max_tokens)

    def summary(self) -> str:
        """The masked sentence, and the most likely word under each mask with its probability."""
        if not self.state:
            return self.message
        masked = ["[MASK]" if place == self.state["hidden"] else token
                  for place, token in enumerate(self.state["tokens"])]
        best = ", ".join(f"{panel['name']} {row['word']} {row['p']:.2f}" for panel in self.state["panels"]
                         for row in panel["belief"]["rows"][:1])
        return f"{' '.join(masked)}: {best}"

    def compute(self, change: Change) -> Computed:
        """Predict the masked word under each mask. If only the text was edited, the masked word stays masked at its new
        index."""
        ids, note = self.read(self.text, self.max_tokens)
        if (masks := ids.count(self.tokenizer.vocab.need("mask"))) > 1:
            raise ValueError(f"the text contains {masks} [MASK]s, but only one word can be masked at once; the drawing "
                             "is unchanged")
        gap = self._gap(ids, change)
        cut = self._source(ids, gap, change)
        state, missing = self._state(ids, gap, cut)
        return Computed({"hidden": gap, "cut": cut, "state": state, "message": joined(note, missing)}, {"_ids": ids})

    def room(self, ids: Sequence[int], max_tokens: int) -> int:
        """The number of tokens that fit in addition to the `ADDED` special tokens."""
        return super().room(ids, max_tokens) - ADDED

    def _gap(self, ids: Sequence[int], change: Change) -> int:
        """The index of the masked word: a typed [MASK], or the clicked word at its current index; by default, the
        middle word."""
        mask, pressed = self.tokenizer.vocab.need("mask"), change.tried & {"hidden", "tried"}
        if mask in ids:
            if pressed and "text" not in change.tried and self.hidden != ids.index(mask):
                raise ValueError("the text contains a [MASK], and only one word can be masked at once: replace it by "
                                 "a word to mask another one. The drawing is unchanged")
            return ids.index(mask)
        if self.hidden is None:
            return len(ids) // 2
        if self._drawn and not pressed:
            drawn = self._drawn["hidden"]
            return next(iter(self.carried(ids, [drawn])), min(drawn, len(ids) - 1))
        return checked("hidden", self.hidden, ids)

    def _source(self, ids: Sequence[int], gap: int, change: Change) -> int:
        """The number of source words, as set by the reader, limited by the length of the sentence."""
        if self.cut is None:
            return min(len(ids) // 2, gap)
        if "cut" not in change.tried:
            return min(self.cut, len(ids) - 1)
        return checked("cut", self.cut, ids)

    def _state(self, ids: Sequence[int], gap: int, cut: int) -> tuple[State, str]:
        """The state to draw, and a note on missing exact probabilities."""
        vocab, tokens = self.tokenizer.vocab, self._labels(ids)
        true = None if ids[gap] == vocab.need("mask") else ids[gap]
        inputs = readings(ids, gap, cut, vocab)
        beliefs = dict(zip(inputs, said(self.model, list(inputs.values()), vocab.need("pad")), strict=True))
        hidden = [*tokens[:gap], "", *tokens[gap + 1:]]
        best = dict.fromkeys(inputs) if self.best is None else self._exact(tuple(hidden), gap, cut)
        panels = [self._panel(name, reading, tokens, beliefs[name], best[name], true)
                  for name, reading in inputs.items()]
        word = None if true is None else tokens[gap]
        state: State = {
            "tokens": tokens, "hidden": gap, "cut": cut, "word": word, "panels": panels,
            "kinds": ["typed" if id == vocab.mask else "unknown" if id == vocab.unk else "word" for id in ids],
            "question": QUESTION, "answer": answer(beliefs, best, true, word),
        }
        without = [] if self.best is None else [f"“{name}”" for name, belief in best.items() if belief is None]
        missing = "" if not without else \
            f"No sentence of the Small World has the words that are visible under {', '.join(without)}, so the " \
            "exact probabilities are missing there."
        return state, missing

    def _panel(self, name: str, reading: Reading, tokens: Sequence[str], belief: Distribution,
               best: Distribution | None, true: int | None) -> Panel:
        """One mask: its tokens, its attention mask with reasons, and the prediction for the masked word."""
        shown = self._labels(reading.example.tokens.tolist())
        special = {BEGIN: shown[0], CUT: f"{shown[-1]} (source)", END: shown[-1]}
        if CUT in reading.places:
            special[END] += " (target)"
        names = [special[place] if isinstance(place, str) else shown[position] if position == reading.position
                 else named(tokens, place) for position, place in enumerate(reading.places)]
        return {"name": name, "tokens": shown, "names": names, "places": reading.places, "position": reading.position,
                "mask": mask_state(name, reading.example.visible),
                "belief": belief_state(belief, best, true, self._labels)}

    def _under_masks(self, words: tuple[str, ...], gap: int, cut: int) -> Mapping[str, Distribution | None]:
        assert self.best is not None
        return self.best.under_masks(words, gap, cut)


def named(tokens: Sequence[str], place: int) -> str:
    """The name of a word; a word that occurs more than once is numbered, starting from 1."""
    token = tokens[place]
    return token if list(tokens).count(token) == 1 else f"{token} (word {place + 1})"


def checked(name: str, value: int, ids: Sequence[int]) -> int:
    """Return the value. Raises ValueError if the sentence has no word with this index."""
    if value not in range(len(ids)):
        raise ValueError(f"{name} is {value}; for this sentence of {len(ids)} words, give 0 to {len(ids) - 1}")
    return value
