"""The Cloze Lab: mask words of a sentence, compare predictions for them, and test whether they are independent."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import traitlets
from torch import nn

from plmlab.interpret.readable import AnyTokenizer, as_ours, readable
from plmlab.labs.base import Change, Computed
from plmlab.labs.cloze.pairs import Joint, chained_pair, likeliest, world_pair
from plmlab.labs.cloze.presets import pair_question, presets, telling_word
from plmlab.labs.cloze.readers import LeftReader, MaskedSentence, believed
from plmlab.labs.cloze.state import Gap, Pair, State
from plmlab.labs.shared.beliefs import belief_state
from plmlab.labs.shared.notes import joined
from plmlab.labs.shared.sentence import SentenceLab, beginning, fitting
from plmlab.labs.shared.tokens import checked_vocabulary
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor, Distribution
from plmlab.world.probability.posterior import NotInGrammar

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from plmlab.world import World

MOST_HIDDEN = 4


class ClozeLab(SentenceLab):
    """Mask words of a sentence and see the predictions of a bidirectional model, next to predictions from the left
    context only and, in a Small World, the Bayes-optimal predictions for both kinds of context. For two masks, the
    product of the independent predictions is compared with the true joint probability.

    Args:
        model: a plmlab model with a masked-language-model head, or a ``BertForMaskedLM`` of ``transformers``.
        tokenizer: the model's tokenizer, of plmlab or of ``transformers``.
        text: the initial sentence; "[SEP]" starts a second sentence, and a word typed as "[MASK]" is masked from the
            start.
        world: a Small World, whose exact posteriors are shown next to the model's predictions; each of its words must
            be a single token of the tokenizer.
        split: the split of the world whose distribution is used.
        left_only: a GPT with the same vocabulary; by default, the model itself predicts from the sentence truncated at
            the mask.
        hide: words to mask initially, each at its first occurrence.

    Raises:
        ValueError: if the model has no such head, the tokenizer belongs to another model, or a word to mask does not
            occur.
    """

    title = "Cloze Lab"
    module = "cloze/lab.js"
    styles = ("cloze/lab.css",)
    inputs: ClassVar = ("text", "hidden", "pair", "tried", "max_tokens")
    unit: ClassVar = "token"
    typed: ClassVar = ("mask", "sep")
    advice: ClassVar = "type words, [MASK] for a masked word, and [SEP] before a second sentence"

    hidden: traitlets.List = traitlets.List().tag(sync=True)
    pair: traitlets.List = traitlets.List().tag(sync=True)
    tried = traitlets.Int(0).tag(sync=True)

    model: nn.Module

    def __init__(self, model: "nn.Module | PreTrainedModel", tokenizer: AnyTokenizer, text: str | None = None,
                 world: "World | None" = None, *, split: str = "train", left_only: nn.Module | None = None,
                 hide: Sequence[str] = (), max_tokens: int = 64) -> None:
        self.model, self.world = model, world
        self.tokenizer = as_ours(tokenizer)
        self.size = checked_size(model, self.tokenizer)
        if left_only is not None and readable(left_only).vocab != self.size:
            raise ValueError(f"left_only has a vocabulary of {readable(left_only).vocab:,} tokens and the model one of "
                             f"{self.size:,}; give a GPT with the same tokenizer")
        self.left = LeftReader(model, left_only)
        self.best = None if world is None else BayesOptimalPredictor(world, split, self.tokenizer, self.size)
        choices = [] if world is None else presets(world)
        begin = beginning(text, choices)
        if hide:
            begin["hidden"] = [self.place_of(word, begin["text"], max_tokens) + 1 for word in hide]
        menu = {"most": MOST_HIDDEN, "left": "a GPT" if left_only else "the same model", "cut": left_only is None}
        super().__init__(begin, choices, menu, max_tokens)

    def summary(self) -> str:
        """The masked sentence, and the most likely word of each mask with its probability."""
        if not self.state:
            return self.message
        masked = " ".join("[MASK]" if position in self.state["hidden"] else token
                          for position, token in enumerate(self.state["tokens"]))
        best = ", ".join(f"{gap['both']['rows'][0]['word']} {gap['both']['rows'][0]['p']:.2f}"
                         for gap in self.state["gaps"])
        return f"{masked}{': ' if best else ''}{best}"

    def compute(self, change: Change) -> Computed:
        """Predict every masked word. If only the text was edited, the masked words stay masked at their new
        positions."""
        pressed = change.tried & {"hidden", "tried"}
        ids, note = self.read(self.text, self.max_tokens)
        gapped = MaskedSentence.of(ids, self.tokenizer.vocab)
        positions = self.carried(gapped.ids, self._drawn["hidden"]) if self._drawn and not pressed else self.hidden
        gapped = gapped.hiding(checked_positions(positions, gapped))
        if len(gapped.hidden) > MOST_HIDDEN:
            raise ValueError(f"{len(gapped.hidden)} words were selected, but at most {MOST_HIDDEN} can be masked at "
                             "once; the drawing is unchanged. Click a masked word to unmask it")
        state, notes = self._state(gapped)
        message = joined(self._how_many(gapped), note, *notes)
        pair = [] if state["pair"] is None else state["pair"]["positions"]
        return Computed({"hidden": list(gapped.hidden), "pair": pair, "state": state, "message": message},
                        {"_ids": gapped.ids})

    def room(self, ids: Sequence[int], max_tokens: int) -> int:
        """The number of tokens that both models support, excluding the added [CLS] and [SEP] tokens."""
        added = len(MaskedSentence.of(ids, self.tokenizer.vocab).ids) - len(ids)
        return fitting(max_tokens, self.model, self.left.left_only) - added

    def _state(self, gapped: MaskedSentence) -> tuple[State, list[str]]:
        """The state to draw, and the notes on it."""
        tokens = self._labels(gapped.ids)
        [both] = believed(self.model, [gapped])
        left = self.left.beliefs(gapped)
        exact, joint, notes = self._exact(gapped, tokens)
        gaps = list[Gap]()
        for position, belief in both.items():
            true, before = gapped.true(position), gapped.before(position)
            by_left = None
            if position in left:
                best = None if self.best is None or before is None else self.best.left(tokens[1:position])
                by_left = belief_state(left[position], best, true, self._labels)
            gaps.append({"position": position, "word": None if true is None else tokens[position], "left": by_left,
                         "both": belief_state(belief, exact.get(position), true, self._labels)})
        pair = self._pair(gapped, both, joint)
        question, answer = "", ""
        if pair is not None:
            question, answer = pair_question(pair)
        elif gapped.hidden:
            question, answer = telling_word(self.model, gapped, self._labels)
        may = set(gapped.may_hide)
        kinds = ["special" if position not in may else "typed" if gapped.true(position) is None
                 else "unknown" if id == self.tokenizer.vocab.unk else "word" for position, id in enumerate(gapped.ids)]
        return {"tokens": tokens, "kinds": kinds, "second": len(gapped.first) + 2 if gapped.second else None,
                "hidden": list(gapped.hidden), "gaps": gaps, "pair": pair, "question": question,
                "answer": answer}, notes

    def _exact(self, gapped: MaskedSentence, tokens: Sequence[str],
               ) -> tuple[dict[int, Distribution], Joint | None, list[str]]:
        """The Bayes-optimal predictions by position, and the joint posterior of the pair; or the reason why they are
        missing."""
        if self.best is None or not gapped.hidden:
            return {}, None, []
        if gapped.second:
            return {}, None, ["The Bayes-optimal predictions of the Small World exist for one sentence at a time, not "
                              "for two."]
        words, places = tokens[1:-1], [position - 1 for position in gapped.hidden]
        try:
            exact = dict(zip(gapped.hidden, self.best.both(words, places), strict=True))
        except NotInGrammar as error:
            return {}, None, [f"There is no Bayes-optimal prediction from both sides: {error}."]
        pair = self._chosen(gapped)
        joint = self.best.joint(words, places, [position - 1 for position in pair]) if pair else None
        return exact, joint, []

    def _chosen(self, gapped: MaskedSentence) -> list[int]:
        """The two masks to compare: the selected ones, or else the first two; [] if there are fewer than two."""
        selected = sorted({position for position in self.pair if position in gapped.hidden})
        return selected if len(selected) == 2 else list(gapped.hidden[:2]) if len(gapped.hidden) > 1 else []

    def _pair(self, gapped: MaskedSentence, both: dict[int, Distribution], joint: Joint | None,
              ) -> Pair | None:
        """Two masks: the product of the independent predictions, and the joint probability under the world, or the
        model's sequential prediction."""
        positions = self._chosen(gapped)
        if not positions:
            return None
        one, other = (both[position] for position in positions)
        if joint is not None:
            return {"positions": positions, **world_pair(one, other, joint, self._labels)}
        firsts = likeliest(one)
        seconds = [beliefs[positions[1]] for beliefs in
                   believed(self.model, [gapped.filled(positions[0], word) for word in firsts])]
        return {"positions": positions, **chained_pair(one, other, firsts, seconds, self._labels)}

    def _how_many(self, gapped: MaskedSentence) -> str:
        """The note shown if no word is masked, or if all words are."""
        if not gapped.hidden:
            return "Nothing is masked. Click a word to mask it, or go to it with Tab and the arrow keys, and press " \
                   "Enter."
        return "" if len(gapped.hidden) < len(gapped.may_hide) else \
            "Everything is masked: the only information left is the length of the sentence."


def checked_size(model: nn.Module, words: Tokenizer) -> int:
    """The vocabulary size of the model's masked-language-model head. Raises ValueError if the model has no such head,
    or if the tokenizer belongs to another model."""
    reads = readable(model)
    if not reads.names_tokens or reads.vocab is None or reads.architecture != "encoder":
        raise ValueError(f"a {type(model).__name__} has no masked-language-model head; give a BERTPretraining, or a "
                         "BertForMaskedLM of transformers")
    return checked_vocabulary(words, reads.vocab)


def checked_positions(positions: Sequence[Any], gapped: MaskedSentence) -> list[int]:
    """The positions to mask, as a list. Raises ValueError for a position that holds no word of the sentence."""
    for position in positions:
        if position not in gapped.may_hide:
            raise ValueError(f"cannot mask position {position!r:.60}; the words of this sentence are at positions "
                             f"{gapped.may_hide}, counted from [CLS] = 0")
    return list(positions)
