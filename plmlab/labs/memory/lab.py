"""The Memory Lab: a text read segment by segment, how far a position can hear, and what it loses where memory is
cut."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import torch
import traitlets
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.memory.asking import asked, other_memory, question, read_last
from plmlab.labs.memory.lesions import WAYS, WITHOUT, blinded
from plmlab.labs.memory.presets import MemoryPreset, ask_all, tally, texts_to_try
from plmlab.labs.memory.reach import reach
from plmlab.labs.memory.reading import (
    Looked,
    Reading,
    RememberingModel,
    Sight,
    groups,
    look,
    read,
    read_again,
    remembering_model,
)
from plmlab.labs.memory.state import Effects, Guess, Said, Sent, State
from plmlab.labs.shared.notes import empty, joined, left_out, unknown
from plmlab.labs.shared.tokens import labels, names_of
from plmlab.visibility import Visibility
from plmlab.world.datasets.recalls import RecallText

LIKELIEST = 5
"""So many words are named before and after."""
ROOM = 1_500_000
"""Positions are cut one by one where that costs no more numbers than these to remember; else some neighbours
together."""
MEAN = MOST = -1
"""``head`` for the mean of all heads; ``layer`` for the one that looks most at the position whose score is shown."""
CLICKS = ("ask", "before", "position", "segment")


class MemoryLab(Lab):
    """A Transformer-XL on the reader's text, segment by segment, with a memory to lengthen, to shorten and to cut.

    One position is asked what comes next: where each layer can have heard from, where it looks, and what becomes of the
    probability of the word that the text has next where a position, a segment or all before a position is cut out of
    the memory while its segment is read, where a term of the scores is away, or where distances are not shifted by the
    memory. The model itself is never changed.

    Args:
        model: a language model that remembers segments (a Transformer-XL); where ``texts`` are given, one of words.
        tokenizer: its own. A text is read as it stands, with no token put before it.
        text: the text to begin with; the first preset if None.
        texts: texts with questions, as `RecallTexts` writes them: they give presets, and a tally over all.
        presets: texts to try; some of ``texts`` if None.
        traits: what the reader can set: ``segment`` and ``memory`` (positions; None for the model's own), ``position``
            (which is asked; None for the one that must say the answer of the last question), ``cuts`` (each from a
            position up to another), ``without`` (a name of `WITHOUT`), ``head`` (−1 for the mean), ``layer`` (whose
            score is shown; −1 for the one that looks most), ``key`` (the position whose score is shown; −1 for the one
            where the answer was read last), ``click`` (what a click on a word does: "ask", "before", "position",
            "segment"), ``max_tokens``.

    Raises:
        ValueError: the model remembers no segments.
    """

    title = "Memory Lab"
    module = "memory/lab.js"
    styles = ("memory/lab.css",)
    inputs: ClassVar = ("text", "max_tokens", "segment", "memory", "position", "cuts", "without")

    max_tokens = traitlets.Int(200).tag(sync=True)
    segment = traitlets.Int(None, allow_none=True).tag(sync=True)
    memory = traitlets.Int(None, allow_none=True).tag(sync=True)
    position = traitlets.Int(None, allow_none=True).tag(sync=True)
    cuts: traitlets.List = traitlets.List().tag(sync=True)
    without = traitlets.Unicode("").tag(sync=True)
    layer = traitlets.Int(MOST).tag(sync=True)
    head = traitlets.Int(MEAN).tag(sync=True)
    key = traitlets.Int(-1).tag(sync=True)
    click = traitlets.Enum(CLICKS, "ask").tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, model: nn.Module, tokenizer: Any, text: str | None = None, *, texts: Sequence[RecallText] = (),
                 presets: Sequence[MemoryPreset] | None = None, **traits: Any) -> None:
        self.model, self.tokenizer = remembering_model(model, tokenizer)
        answered = list(ask_all(self.model, self.tokenizer, texts))
        tried = texts_to_try(answered) if presets is None else list(presets)
        self._remembering = lru_cache(16)(self._with_lengths)
        self._read = lru_cache(8)(self._reading)
        self._rules = lru_cache(8)(self._visibility)
        begin = text if text is not None else tried[0].text if tried else ""
        super().__init__(text=begin, menu={
            "presets": [{"title": one.title} | one.traits() for one in tried], "layers": len(self.model.layers),
            "heads": self.model.config.heads, "tally": tally(answered),
        }, **traits)

    @traitlets.validate("layer", "head")
    def _check(self, proposal: Any) -> int:
        """A TraitError for a layer or a head that there is not."""
        name, value = proposal["trait"].name, proposal["value"]
        count = len(self.model.layers) if name == "layer" else self.model.config.heads
        if not -1 <= value < count:
            raise traitlets.TraitError(f"{name} is from 0 to {count - 1}, or -1; {value} was given")
        return value

    def summary(self) -> str:
        """What is asked for, and its probability as it is and as it is changed."""
        if not self.state:
            return self.message
        now, then = self.state["answers"]
        return (f"after position {self.state['position']}, “{self.state['word']}” has {now['p']:.3f} with segments of "
                f"{self.state['segment']} and a memory of {self.state['memory']}; as changed, {then['p']:.3f}")

    @torch.no_grad()
    def compute(self, change: Change) -> Computed:
        """The text read, and all that is drawn of the position that is asked."""
        ids, note = self._ids()
        new_text = bool({"text", "max_tokens"} & change.drawn)
        tokens = labels(self.tokenizer, ids)
        position = self.position if not new_text or "position" in change.drawn else None
        position = asked(tokens) if position is None else position
        if not 0 <= position < len(ids):
            raise ValueError(f"there is no position {position}: this text has positions 0 … {len(ids) - 1}")
        cuts = self.cuts if not new_text or "cuts" in change.drawn else []
        own = self.model.config
        segment = own.segment if self.segment is None else self.segment
        memory = own.memory if self.memory is None else self.memory
        if self.without not in WAYS:
            raise ValueError(f"without is {self.without!r:.60}; it is one of {', '.join(WITHOUT)}, or empty")
        state = self._state(tuple(ids), tokens, position, segment, memory, [_cut(cut) for cut in cuts])
        return Computed({"state": state, "message": note, "position": position, "cuts": cuts, "segment": segment,
                         "memory": memory, **({"key": -1} if new_text else {})})

    def _ids(self) -> tuple[list[int], str]:
        """The tokens that are read, and what is to be said of them; a ValueError for a text without any."""
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens is {self.max_tokens}: a text needs 1 position or more")
        ids = self.tokenizer.encode(self.text)
        if not ids:
            raise empty("text")
        strange = sum(id == self.tokenizer.vocab.unk for id in ids[:self.max_tokens])
        return ids[:self.max_tokens], joined(unknown(strange), left_out(len(ids) - self.max_tokens, self.max_tokens))

    def _with_lengths(self, segment: int, memory: int) -> RememberingModel:
        return self.model.remembering(segment=segment, memory=memory)

    def _reading(self, ids: tuple[int, ...], segment: int, memory: int, ways: tuple[str, ...]) -> Reading:
        return read(self._remembering(segment, memory), ids, ways)

    def _visibility(self, ids: tuple[int, ...], segment: int, memory: int) -> tuple[Visibility, Tensor, Tensor]:
        visible = self._remembering(segment, memory).visibility(len(ids))
        return visible, visible.dense(), visible.rule_ids()

    def _state(self, ids: tuple[int, ...], tokens: list[str], position: int, segment: int, memory: int,
               cuts: list[tuple[int, int]]) -> State:
        model, at = self._remembering(segment, memory), Sight.before(position, segment, memory)
        whole = self._read(ids, segment, memory, WAYS)
        visible, looks, rule_ids = self._rules(ids, segment, memory)
        mask = at.mask(cuts)
        ways = ("", self.without)
        rows = [WAYS.index(way) for way in ways]
        looked = look(model, ids, at, whole.inputs[:, rows], torch.stack([torch.zeros_like(mask), mask]), ways)
        logits = model.token_logits(looked.hidden)
        word = ids[position + 1] if position + 1 < len(ids) else int(logits[0].argmax())
        of_ways = model.token_logits(whole.hidden[:, position])
        fact = read_last(ids, position, word)
        changed = looks.clone()
        changed[at.begin:position + 1, at.oldest:position + 1] &= ~blinded(mask, position + 1 - at.begin)
        name = labels(self.tokenizer, [word])[0]
        now, then = (reach(mask_of, position, len(model.layers)) for mask_of in (looks, changed))
        row = rule_ids[position].tolist()
        return {
            "tokens": tokens, "names": names_of(tokens), "position": position, "begin": at.begin, "oldest": at.oldest,
            "segment": segment, "memory": memory, "word": name, "given": position + 1 < len(ids), "fact": fact,
            "zones": [_zone(key, bool(looks[position, key]), at) for key in range(len(ids))],
            "rule_ids": row, "sentences": {str(cause): visible.sentence(cause) for cause in sorted(set(row))},
            "cut": [bool(one) for one in mask.tolist()], "without": self.without,
            "reach": {"level": now.level, "via": now.via, "cut": then.level},
            "answers": [self._said(one, word) for one in logits],
            "ways": [{"name": way, **self._said(one, word)} for way, one in zip(WAYS, of_ways, strict=True)],
            "effects": self._effects(model, ids, at, whole.inputs[:, :1], word),
            "guess": self._guess(ids, at, segment, memory, word, name, fact, float(logits[0].softmax(-1)[word])),
            **_sent(looked),
        }

    def _said(self, logits: Float[Tensor, "vocab"], word: int) -> Said:
        """The probability of the word, its rank from 1 on, and the likeliest words with theirs."""
        chances = logits.double().softmax(-1)
        top = chances.topk(min(LIKELIEST, len(chances)))
        return {"p": float(chances[word]), "rank": 1 + int((chances > chances[word]).sum()),
                "likeliest": [list(pair) for pair in zip(labels(self.tokenizer, top.indices.tolist()),
                                                        top.values.tolist(), strict=True)]}

    def _effects(self, model: RememberingModel, ids: tuple[int, ...], at: Sight,
                 inputs: Float[Tensor, "layer 1 time model"], word: int) -> Effects:
        """The word's probability with some positions cut out, as [first position, end, probability]: ``positions``, one
        by one or some neighbours together, and ``segments``, those before the asked position's."""
        length = at.position + 1 - at.begin
        most = max(1, ROOM // ((at.keys + 3 * length) * inputs.shape[0] * inputs.shape[-1]))
        positions = [(at.oldest + first, at.oldest + end) for first, end in groups(at.keys - 1, most)]
        segment = model.config.segment
        whole = [(max(first, at.oldest), first + segment)
                 for first in range(at.oldest // segment * segment, at.begin, segment)]
        cuts = [*positions, *whole]
        if not cuts:
            return {"positions": [], "segments": []}
        mask = torch.stack([at.mask([cut]) for cut in cuts])
        hidden = read_again(model, ids, at, inputs, mask)
        chances = model.token_logits(hidden).double().softmax(-1)[:, word].tolist()
        told = [[first, end, p] for (first, end), p in zip(cuts, chances, strict=True)]
        return {"positions": told[:len(positions)], "segments": told[len(positions):]}

    def _guess(self, ids: tuple[int, ...], at: Sight, segment: int, memory: int, word: int, name: str,
               fact: int | None, now: float) -> Guess | None:
        other = other_memory(fact, at)
        if other == memory or at.begin == 0 or getattr(self.model.config, "same_length", False):
            return None
        logits = self.model.token_logits(self._read(ids, segment, other, ("",)).hidden[0, at.position])
        likeliest = labels(self.tokenizer, [int(logits.argmax())])[0]
        return question(name, fact, at, memory, other, now, float(logits.softmax(-1)[word]), likeliest)


def _cut(told: Any) -> tuple[int, int]:
    """A cut as the browser or the reader tells it: from a position up to another one."""
    try:
        first, end = (int(one) for one in told)
    except (TypeError, ValueError):
        raise ValueError(f"a cut is told as [first position, position behind the last]; {told!r:.60} was "
                         f"given") from None
    if not 0 <= first < end:
        raise ValueError(f"a cut goes from a position, 0 or later, to one behind it; {told!r:.60} was given")
    return first, end


def _zone(key: int, seen: bool, at: Sight) -> str:
    """What has become of a position when ``at.position`` is asked."""
    if key > at.position:
        return "later"
    return "forgotten" if not seen else "segment" if key >= at.begin else "memory"


def _sent(looked: Looked) -> Sent:
    """Where the position looked, as bytes for JavaScript: [way layer head key], and [way layer head key term]."""
    weights = looked.weights.transpose(0, 1)
    terms = looked.terms.permute(2, 1, 3, 4, 0)
    return {"weights": _packed(weights), "terms": _packed(terms)}


def _packed(tensor: Tensor) -> bytes:
    return tensor.float().contiguous().cpu().numpy().astype("<f4").tobytes()
