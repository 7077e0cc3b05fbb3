"""The Alignment Lab: where a translation looks while it is written, and what becomes of it when the look is moved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import traitlets
from torch import nn

from plmlab.interpret.alignments import Translation, translate
from plmlab.interpret.readable import as_ours
from plmlab.labs.alignment.asking import shutting
from plmlab.labs.alignment.compared import side_by_side
from plmlab.labs.alignment.hands import LONGEST, checked, written
from plmlab.labs.alignment.presets import AlignmentPreset, offered
from plmlab.labs.alignment.reading import Source, read
from plmlab.labs.alignment.state import Asked, Hand, State, Told
from plmlab.labs.alignment.tallying import tally as tallied
from plmlab.labs.alignment.telling import told
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.shared.notes import joined
from plmlab.labs.shared.tokens import labels
from plmlab.text.printable import printable
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World

LABELLED = ("written", "read")
Tally = Callable[[], dict[str, Any]] | Mapping[str, Any]


class AlignmentLab(Lab):
    """A translation word by word, and where the model looked for each: links between the words, and a matrix.

    The look of a step can be put on another word, and words can be shut off; the rest is then written anew, and what
    the hand did stands beside it. Where the text is of a Small World, gold partners and the right translation are
    known. Other models stand beneath with what they write. No model is ever changed.

    Args:
        models: name → encoder-decoder; one at least has attention, and the first such is drawn.
        tokenizer: that of all of them.
        text: the text to begin with; the first preset's if None.
        world: a Small World whose English the models read and whose Chinese they write.
        split: which of the world's distributions a text must belong to so that its gold is known.
        presets: texts to try; some of the world's if None.
        tally: what a button counts over many texts, as `plmlab.labs.alignment.tallying.tally` gives it, or a function
            that counts it; with a world and None, that function with the model that is drawn.
        traits: what the reader can set: ``held`` (dicts of step, position and share), ``shut`` (positions of the
            source), ``drawn`` (a model's name), ``steps`` (how many words are shown; None: all), ``labelled``
            ("written" or "read": what the matrix calls its rows), ``share`` (what a click gives), ``max_tokens``.

    Raises:
        ValueError: no model with attention, one of another vocabulary, or no text to begin with.
    """

    title = "Alignment Lab"
    module = "alignment/lab.js"
    styles = ("alignment/lab.css",)
    inputs: ClassVar = ("text", "held", "shut", "drawn", "max_tokens", "count")

    held: traitlets.List = traitlets.List().tag(sync=True)
    shut: traitlets.List = traitlets.List().tag(sync=True)
    drawn = traitlets.Unicode().tag(sync=True)
    share = traitlets.Float(1.0).tag(sync=True)
    steps = traitlets.Int(None, allow_none=True).tag(sync=True)
    labelled = traitlets.Unicode("written").tag(sync=True)
    count = traitlets.Int(0).tag(sync=True)
    counted = traitlets.Dict().tag(sync=True)
    menu = traitlets.Dict().tag(sync=True)

    def __init__(self, models: Mapping[str, nn.Module], tokenizer: Tokenizer, text: str | None = None, *,
                 world: World | None = None, split: str = "train", presets: Sequence[AlignmentPreset] | None = None,
                 tally: Tally | None = None, **traits: Any) -> None:
        self.models, self.tokenizer = dict(models), as_ours(tokenizer)
        self.world, self.split, self._tally = world, split, tally
        self.looking = [name for name, model in self.models.items() if self._looks(name, model)]
        if not self.looking:
            raise ValueError("an alignment needs a model with attention, and none was given: AlignmentLab({name: "
                             "model, …}, tokenizer)")
        tried = (offered(world, split) if world else []) if presets is None else list(presets)
        if text is None and not tried:
            raise ValueError("there is no text to begin with: give one, or a world, or presets")
        self.source: Source | None = None
        self.before: Translation | None = None
        self.after: Translation | None = None
        self._text: tuple[Any, ...] | None = None
        self._written: dict[str, Translation] = {}
        self._told: dict[str, Told] = {}
        self._asked: dict[str, Asked] = {}
        self._counted = {name: dict(tally) for name in self.looking} if isinstance(tally, Mapping) else {}
        begin = tried[0].traits() if text is None else {"text": text}
        super().__init__(**begin | {"drawn": self.looking[0]} | traits, menu={
            "presets": [{"title": one.title} | one.traits() for one in tried], "looking": self.looking,
            "tallies": tally is not None or world is not None})

    def _looks(self, name: str, model: nn.Module) -> bool:
        """Whether a model has attention; a ValueError where it is not of this tokenizer."""
        size, vocab = getattr(getattr(model, "config", None), "vocab", len(self.tokenizer)), self.tokenizer.vocab
        if size < len(self.tokenizer):
            raise ValueError(f"the tokenizer has {len(self.tokenizer):,} tokens, and {name!r} knows {size:,}: is it "
                             "that of another model?")
        return translate(model, [vocab.need("unk")], vocab, length=1).weights is not None

    @traitlets.validate("drawn", "labelled")
    def _check_choice(self, proposal: Any) -> Any:
        """A TraitError for what no control chooses."""
        name, value = proposal["trait"].name, proposal["value"]
        choices = LABELLED if name == "labelled" else self.looking
        if value not in choices:
            raise traitlets.TraitError(f"{name} is one of {', '.join(choices)}; {value!r:.60} was given")
        return value

    def summary(self) -> str:
        """What was read and written, how many words of it are right, and how many looks are on their partner."""
        if not self.state:
            return self.message
        now, gold = self.state["now"], self.state["gold"]
        said = f"{self.state['text']!r} → {now['text']!r}"
        if gold is None:
            return said
        return (f"{said}, {now['right']} of {len(gold)} words right, {now['hits']} of {len(now['partners'])} looks on "
                "their partner")

    def compute(self, change: Change) -> Computed:
        """The translation with the hand on it, beside the one before; or a tally, where only that was asked for."""
        if change.tried == {"count"}:
            return Computed({"counted": self._tallied(), "message": self.message, "stale": self.stale})
        key = (self.text, self.max_tokens)
        known = self.source if self._text == key else None
        source = known or read(self.text, self.tokenizer, self.world, self.split, self.max_tokens)
        kept = self._text is None or known is not None or bool({"held", "shut"} & change.tried)
        holds, shut = checked(self.held if kept else [], self.shut if kept else [], len(source.ids) + 1)
        texts = self._written if known else {
            name: written(model, source.ids, self.tokenizer.vocab) for name, model in self.models.items()}
        said = self._told if known else {name: told(text, self.tokenizer, source.gold) for name, text in texts.items()}
        before = after = texts[self.drawn]
        if holds or shut:
            after = written(self.models[self.drawn], source.ids, self.tokenizer.vocab, holds, shut)
        hand: Hand = {"held": [asdict(hold) for hold in holds], "shut": list(shut)}
        asked = dict(self._asked) if known else {}
        if self.drawn not in asked:
            asked[self.drawn] = self._question(source, before, said[self.drawn])
        now = said[self.drawn] if after is before else told(after, self.tokenizer, source.gold)
        return Computed(
            {"state": self._state(source, said, now, hand, asked[self.drawn]),
             "message": self._note(source, before), "counted": self._counted.get(self.drawn, {}), **hand},
            {"source": source, "before": before, "after": after, "_text": key, "_written": texts, "_told": said,
             "_asked": asked})

    def _state(self, source: Source, texts: Mapping[str, Told], now: Told, hand: Hand, asked: Asked) -> State:
        """What JavaScript draws: ``before`` and ``now`` are translations as `told`, ``changes`` their steps in pairs,
        ``others`` what the other models write, ``gold`` the words of the reference."""
        before = texts[self.drawn]
        return {
            "text": " ".join(source.words),
            "source": [*map(printable, source.words), *labels(self.tokenizer, [source.end])],
            "unknown": list(source.unknown), "before": before, "now": now,
            "gold": None if source.gold is None else list(source.gold.chinese),
            "changes": [list(pair) for pair in side_by_side(before["tokens"], now["tokens"])],
            "others": [{"name": name, **other} for name, other in texts.items() if name != self.drawn],
            **hand, "drawn": self.drawn, "asked": asked,
        }

    def _question(self, source: Source, before: Translation, then: Told) -> Asked:
        """What is asked before one looks, about a word that is shut off."""
        def without(position: int) -> list[str]:
            said = written(self.models[self.drawn], source.ids, self.tokenizer.vocab, shut=[position])
            return labels(self.tokenizer, said.tokens)

        assert before.weights is not None
        positions = then["positions"] or []
        right = [pair for pair in then["partners"] if positions[pair[0]] is not None]
        return shutting(source.words, then["tokens"], before.weights, right, without)

    def _note(self, source: Source, before: Translation) -> str:
        """What is to be said of the text, and of a translation that had no end."""
        ended = before.tokens[-1] == source.end
        return joined(source.note, "" if ended else f"The model had not ended after {LONGEST} words: it was cut there.")

    def _tallied(self) -> dict[str, Any]:
        """What the button counts, for the model that is drawn; counted once."""
        if self.drawn not in self._counted:
            if callable(self._tally):
                self._counted[self.drawn] = self._tally()
            elif self.world is None:
                raise ValueError("a tally needs a world whose texts it reads, or a function that counts: give one")
            else:
                self._counted[self.drawn] = tallied(self.models[self.drawn], self.tokenizer, self.world)
        return self._counted[self.drawn]
