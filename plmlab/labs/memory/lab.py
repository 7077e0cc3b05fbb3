"""The Memory Lab: segment-level recurrence, the receptive field of a position, and masking parts of the memory."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import torch
import traitlets
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.memory.interventions import WAYS, WITHOUT, blinded
from plmlab.labs.memory.presets import MemoryPreset, ask_all, default_presets, tally
from plmlab.labs.memory.quiz import asked, other_memory, question, read_last
from plmlab.labs.memory.reading import (
    QueryAttention,
    Reading,
    RememberingModel,
    VisibleContext,
    groups,
    look,
    read,
    recompute,
    remembering_model,
)
from plmlab.labs.memory.receptive_field import receptive_field
from plmlab.labs.memory.state import Effects, Guess, Said, Sent, State
from plmlab.labs.shared.notes import empty, joined, left_out, unknown
from plmlab.labs.shared.tokens import labels, names_of
from plmlab.visibility import Visibility
from plmlab.world.datasets.recalls import RecallText

LIKELIEST = 5
"""Number of most probable words listed before and after a change."""
ROOM = 1_500_000
"""Limit on stored floats: positions are masked one by one within it, otherwise in groups of neighbours."""
MEAN = MOST = -1
"""``head``: the mean of all heads. ``layer``: the layer with the largest attention weight on the selected key."""
CLICKS = ("ask", "before", "position", "segment")


class MemoryLab(Lab):
    """A Transformer-XL on the reader's text, segment by segment, with a memory to lengthen, shorten and mask.

    For one query position the lab shows the receptive field of each layer, the attention weights, and how the
    probability of the actual next word changes when a position, a segment or everything before a position is masked out
    while the query's segment is processed, when a term of the scores is removed, or when distances are not shifted by
    the memory's length. The model itself is never changed.

    Args:
        model: a language model with segment-level recurrence (a Transformer-XL); word-level if ``texts`` are given.
        tokenizer: the model's own. No start token is prepended to the text.
        text: the initial text; the first preset if None.
        texts: texts with questions, as `RecallTexts` generates them, for presets and for a tally over all questions.
        presets: texts to try; chosen from ``texts`` if None.
        traits: what the reader can set: ``segment`` and ``memory`` (lengths; None for the model's own), ``position``
            (the query position; None for the one that predicts the answer to the last question), ``cuts`` (half-open
            ranges of positions to mask out), ``without`` (a name in `WITHOUT`), ``head`` (−1 for the mean), ``layer``
            (whose score is shown; −1 for the one with the largest weight), ``key`` (the key whose score is shown; −1
            for the last occurrence of the answer), ``click`` (the action of a click on a word: "ask", "before",
            "position" or "segment"), ``max_tokens``.

    Raises:
        ValueError: the model has no segment-level recurrence.
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
        choices = default_presets(answered) if presets is None else list(presets)
        self._remembering = lru_cache(16)(self._with_lengths)
        self._read = lru_cache(8)(self._reading)
        self._rules = lru_cache(8)(self._visibility)
        first_text = text if text is not None else choices[0].text if choices else ""
        super().__init__(text=first_text, menu={
            "presets": [{"title": preset.title} | preset.traits() for preset in choices],
            "layers": len(self.model.layers), "heads": self.model.config.heads, "tally": tally(answered),
        }, **traits)

    @traitlets.validate("layer", "head")
    def _check(self, proposal: Any) -> int:
        """Raise a TraitError if the layer or head does not exist."""
        name, value = proposal["trait"].name, proposal["value"]
        count = len(self.model.layers) if name == "layer" else self.model.config.heads
        if not -1 <= value < count:
            raise traitlets.TraitError(f"{name} is from 0 to {count - 1}, or -1; {value} was given")
        return value

    def summary(self) -> str:
        """The target and its probability, before and after the changes."""
        if not self.state:
            return self.message
        now, then = self.state["answers"]
        return (f"at position {self.state['position']}, p(“{self.state['word']}”) is {now['p']:.3f} with segments of "
                f"{self.state['segment']} and a memory of {self.state['memory']}; with the changes, {then['p']:.3f}")

    @torch.no_grad()
    def compute(self, change: Change) -> Computed:
        """Run the model, and compute everything that is drawn for the query position."""
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
            raise ValueError(f"without is {self.without!r:.60}; give one of {', '.join(WITHOUT)}, or an empty string")
        state = self._state(tuple(ids), tokens, position, segment, memory, [_cut(cut) for cut in cuts])
        return Computed({"state": state, "message": note, "position": position, "cuts": cuts, "segment": segment,
                         "memory": memory, **({"key": -1} if new_text else {})})

    def _ids(self) -> tuple[list[int], str]:
        """The token ids, and a note about them. Raises ValueError if the text has no tokens."""
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens is {self.max_tokens}: give a whole number, 1 or more")
        ids = self.tokenizer.encode(self.text)
        if not ids:
            raise empty("text")
        unk_count = sum(id == self.tokenizer.vocab.unk for id in ids[:self.max_tokens])
        return ids[:self.max_tokens], joined(unknown(unk_count), left_out(len(ids) - self.max_tokens, self.max_tokens))

    def _with_lengths(self, segment: int, memory: int) -> RememberingModel:
        return self.model.remembering(segment=segment, memory=memory)

    def _reading(self, ids: tuple[int, ...], segment: int, memory: int, ways: tuple[str, ...]) -> Reading:
        return read(self._remembering(segment, memory), ids, ways)

    def _visibility(self, ids: tuple[int, ...], segment: int, memory: int) -> tuple[Visibility, Tensor, Tensor]:
        visible = self._remembering(segment, memory).visibility(len(ids))
        return visible, visible.dense(), visible.rule_ids()

    def _state(self, ids: tuple[int, ...], tokens: list[str], position: int, segment: int, memory: int,
               cuts: list[tuple[int, int]]) -> State:
        model, at = self._remembering(segment, memory), VisibleContext.before(position, segment, memory)
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
        now, then = (receptive_field(mask_of, position, len(model.layers)) for mask_of in (looks, changed))
        row_causes = rule_ids[position].tolist()
        return {
            "tokens": tokens, "names": names_of(tokens), "position": position, "begin": at.begin, "oldest": at.oldest,
            "segment": segment, "memory": memory, "word": name, "given": position + 1 < len(ids), "fact": fact,
            "zones": [_zone(key, bool(looks[position, key]), at) for key in range(len(ids))],
            "rule_ids": row_causes,
            "sentences": {str(cause): visible.sentence(cause) for cause in sorted(set(row_causes))},
            "cut": mask.tolist(), "without": self.without,
            "reach": {"level": now.level, "via": now.via, "cut": then.level},
            "answers": [self._said(row, word) for row in logits],
            "ways": [{"name": way, **self._said(scores, word)} for way, scores in zip(WAYS, of_ways, strict=True)],
            "effects": self._effects(model, ids, at, whole.inputs[:, :1], word),
            "guess": self._guess(ids, at, segment, memory, word, name, fact, float(logits[0].softmax(-1)[word])),
            **_sent(looked),
        }

    def _said(self, logits: Float[Tensor, "vocab"], word: int) -> Said:
        """The word's probability and rank (from 1), and the most probable words with their probabilities."""
        probs = logits.double().softmax(-1)
        top = probs.topk(min(LIKELIEST, len(probs)))
        return {"p": float(probs[word]), "rank": 1 + int((probs > probs[word]).sum()),
                "likeliest": [list(pair) for pair in zip(labels(self.tokenizer, top.indices.tolist()),
                                                         top.values.tolist(), strict=True)]}

    def _effects(self, model: RememberingModel, ids: tuple[int, ...], at: VisibleContext,
                 inputs: Float[Tensor, "layer 1 time model"], word: int) -> Effects:
        """The word's probability with ranges masked out, as [first, end, probability]: ``positions``, single positions
        or groups of neighbours, and ``segments``, the segments before that of the query position."""
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
        hidden = recompute(model, ids, at, inputs, mask)
        probs = model.token_logits(hidden).double().softmax(-1)[:, word].tolist()
        effects = [[first, end, p] for (first, end), p in zip(cuts, probs, strict=True)]
        return {"positions": effects[:len(positions)], "segments": effects[len(positions):]}

    def _guess(self, ids: tuple[int, ...], at: VisibleContext, segment: int, memory: int, word: int, name: str,
               fact: int | None, now: float) -> Guess | None:
        other = other_memory(fact, at)
        if other == memory or at.begin == 0 or getattr(self.model.config, "same_length", False):
            return None
        logits = self.model.token_logits(self._read(ids, segment, other, ("",)).hidden[0, at.position])
        likeliest = labels(self.tokenizer, [int(logits.argmax())])[0]
        return question(name, fact, at, memory, other, now, float(logits.softmax(-1)[word]), likeliest)


def _cut(given: Any) -> tuple[int, int]:
    """Parse a cut, given as [first, end]. Raises ValueError unless 0 ≤ first < end."""
    try:
        first, end = (int(bound) for bound in given)
    except (TypeError, ValueError):
        raise ValueError(f"a cut is a pair [first position, last position + 1]; {given!r:.60} was given") from None
    if not 0 <= first < end:
        raise ValueError(f"a cut [first, end] needs 0 ≤ first < end; {given!r:.60} was given")
    return first, end


def _zone(key: int, seen: bool, at: VisibleContext) -> str:
    """Status of position ``key`` for the query position ``at.position``."""
    if key > at.position:
        return "later"
    return "forgotten" if not seen else "segment" if key >= at.begin else "memory"


def _sent(looked: QueryAttention) -> Sent:
    """Weights ``[way layer head key]`` and score terms ``[way layer head key term]`` as bytes for JavaScript."""
    weights = looked.weights.transpose(0, 1)
    terms = looked.terms.permute(2, 1, 3, 4, 0)
    return {"weights": _packed(weights), "terms": _packed(terms)}


def _packed(tensor: Tensor) -> bytes:
    return tensor.float().contiguous().cpu().numpy().astype("<f4").tobytes()
