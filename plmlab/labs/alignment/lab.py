"""The Alignment Lab: the cross-attention of a translation model, and the effect of changing it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import traitlets
from torch import nn

from plmlab.interpret.alignments import Translation, translate
from plmlab.interpret.readable import as_ours
from plmlab.labs.alignment.comparison import side_by_side
from plmlab.labs.alignment.interventions import LONGEST, checked, translated
from plmlab.labs.alignment.presets import AlignmentPreset, default_presets
from plmlab.labs.alignment.quiz import masking_question
from plmlab.labs.alignment.reading import Source, read
from plmlab.labs.alignment.serialization import serialized
from plmlab.labs.alignment.state import Interventions, Quiz, State, TranslationState
from plmlab.labs.alignment.tally import tally as tallied
from plmlab.labs.base import Change, Computed, Lab
from plmlab.labs.shared.notes import joined
from plmlab.labs.shared.tokens import labels
from plmlab.text.printable import printable
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World

LABELLED = ("written", "read")
Tally = Callable[[], dict[str, Any]] | Mapping[str, Any]


class AlignmentLab(Lab):
    """A translation with its cross-attention, drawn as links between the words and as a matrix.

    The attention of a step can be moved to another source word, and source words can be masked; the lab then generates
    the translation again and describes the change. For texts of a Small World, the gold alignment and the reference
    translation are known. The translations of the other models are listed below the drawing. No model is ever modified.

    Args:
        models: maps names to encoder–decoder models. At least one needs attention; the first model with attention is
            drawn.
        tokenizer: the tokenizer of all models.
        text: the initial text; by default, that of the first preset.
        world: a Small World with English as the source and Chinese as the target language.
        split: the split of the world that a text must belong to for its gold alignment to be known.
        presets: preset texts; by default, sentences of the world.
        tally: statistics over many texts for the tally button, as returned by `plmlab.labs.alignment.tally.tally`, or a
            function that computes them; by default, if there is a world, the statistics of the drawn model.
        traits: what the reader can set: ``moved`` (dicts of step, ``position`` and share), ``masked`` (masked source
            positions), ``drawn`` (a model's name), ``steps`` (number of words shown; None: all), ``labelled`` (the row
            labels of the matrix: "written" or "read"), ``share`` (the fraction of the attention that a click moves),
            ``max_tokens``.

    Raises:
        ValueError: if no model has attention, if a model's vocabulary differs from the tokenizer's, or if there is no
            initial text.
    """

    title = "Alignment Lab"
    module = "alignment/lab.js"
    styles = ("alignment/lab.css",)
    inputs: ClassVar = ("text", "moved", "masked", "drawn", "max_tokens", "count")

    moved: traitlets.List = traitlets.List().tag(sync=True)
    masked: traitlets.List = traitlets.List().tag(sync=True)
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
            raise ValueError("the Alignment Lab needs a model with attention, and none was given: AlignmentLab("
                             "{name: model, …}, tokenizer)")
        choices = (default_presets(world, split) if world else []) if presets is None else list(presets)
        if text is None and not choices:
            raise ValueError("there is no initial text: give a text, a world or presets")
        self.source: Source | None = None
        self.before: Translation | None = None
        self.after: Translation | None = None
        self._text: tuple[Any, ...] | None = None
        self._written: dict[str, Translation] = {}
        self._told: dict[str, TranslationState] = {}
        self._asked: dict[str, Quiz] = {}
        self._counted = {name: dict(tally) for name in self.looking} if isinstance(tally, Mapping) else {}
        begin = choices[0].traits() if text is None else {"text": text}
        super().__init__(**begin | {"drawn": self.looking[0]} | traits, menu={
            "presets": [{"title": preset.title} | preset.traits() for preset in choices], "looking": self.looking,
            "tallies": tally is not None or world is not None})

    def _looks(self, name: str, model: nn.Module) -> bool:
        """Return whether a model has attention. Raises ValueError if the model does not match the tokenizer."""
        size, vocab = getattr(getattr(model, "config", None), "vocab", len(self.tokenizer)), self.tokenizer.vocab
        if size < len(self.tokenizer):
            raise ValueError(f"the tokenizer has {len(self.tokenizer):,} tokens, but the vocabulary of {name!r} has "
                             f"{size:,}: give the model's own tokenizer")
        return translate(model, [vocab.need("unk")], vocab, length=1).weights is not None

    @traitlets.validate("drawn", "labelled")
    def _check_choice(self, proposal: Any) -> Any:
        """Raise TraitError for a value that no control offers."""
        name, value = proposal["trait"].name, proposal["value"]
        choices = LABELLED if name == "labelled" else self.looking
        if value not in choices:
            raise traitlets.TraitError(f"{name} must be one of {', '.join(choices)}; {value!r:.60} was given")
        return value

    def summary(self) -> str:
        """The source, the translation, the number of correct words, and the number of gold links with the largest
        weight."""
        if not self.state:
            return self.message
        now, gold = self.state["now"], self.state["gold"]
        translation = f"{self.state['text']!r} → {now['text']!r}"
        if gold is None:
            return translation
        return (f"{translation}, {now['right']} of {len(gold)} words correct, {now['hits']} of "
                f"{len(now['partners'])} gold links recovered")

    def compute(self, change: Change) -> Computed:
        """Translate with and without the interventions; or compute only the statistics, if nothing else was
        requested."""
        if change.tried == {"count"}:
            return Computed({"counted": self._tallied(), "message": self.message, "stale": self.stale})
        key = (self.text, self.max_tokens)
        known = self.source if self._text == key else None
        source = known or read(self.text, self.tokenizer, self.world, self.split, self.max_tokens)
        kept = self._text is None or known is not None or bool({"moved", "masked"} & change.tried)
        holds, masked = checked(self.moved if kept else [], self.masked if kept else [], len(source.ids) + 1)
        texts = self._written if known else {
            name: translated(model, source.ids, self.tokenizer.vocab) for name, model in self.models.items()}
        said = self._told if known else {name: serialized(text, self.tokenizer, source.gold) for name,
                                         text in texts.items()}
        before = after = texts[self.drawn]
        if holds or masked:
            after = translated(self.models[self.drawn], source.ids, self.tokenizer.vocab, holds, masked)
        hand: Interventions = {"moved": [asdict(hold) for hold in holds], "masked": list(masked)}
        quiz = dict(self._asked) if known else {}
        if self.drawn not in quiz:
            quiz[self.drawn] = self._question(source, before, said[self.drawn])
        now = said[self.drawn] if after is before else serialized(after, self.tokenizer, source.gold)
        return Computed(
            {"state": self._state(source, said, now, hand, quiz[self.drawn]),
             "message": self._note(source, before), "counted": self._counted.get(self.drawn, {}), **hand},
            {"source": source, "before": before, "after": after, "_text": key, "_written": texts, "_told": said,
             "_asked": quiz})

    def _state(self, source: Source, texts: Mapping[str, TranslationState], now: TranslationState,
               hand: Interventions, quiz: Quiz) -> State:
        """The state for JavaScript: ``before`` and ``now`` are translations (see `serialized`), ``changes`` pairs their
        steps, ``others`` are the translations of the other models, and ``gold`` holds the words of the reference."""
        before = texts[self.drawn]
        return {
            "text": " ".join(source.words),
            "source": [*map(printable, source.words), *labels(self.tokenizer, [source.end])],
            "unknown": list(source.unknown), "before": before, "now": now,
            "gold": None if source.gold is None else list(source.gold.chinese),
            "changes": [list(pair) for pair in side_by_side(before["tokens"], now["tokens"])],
            "others": [{"name": name, **other} for name, other in texts.items() if name != self.drawn],
            **hand, "drawn": self.drawn, "quiz": quiz,
        }

    def _question(self, source: Source, before: Translation, then: TranslationState) -> Quiz:
        """The question about masking a source word, with its answer."""
        def without(position: int) -> list[str]:
            said = translated(self.models[self.drawn], source.ids, self.tokenizer.vocab, masked=[position])
            return labels(self.tokenizer, said.tokens)

        assert before.weights is not None
        positions = then["positions"] or []
        right = [pair for pair in then["partners"] if positions[pair[0]] is not None]
        return masking_question(source.words, then["tokens"], before.weights, right, without)

    def _note(self, source: Source, before: Translation) -> str:
        """Notes on the text, and on a translation that did not end."""
        ended = before.tokens[-1] == source.end
        return joined(source.note, "" if ended else
                      f"The model had not generated [END] after {LONGEST} words; the translation was cut there.")

    def _tallied(self) -> dict[str, Any]:
        """The statistics shown by the tally button for the drawn model (cached)."""
        if self.drawn not in self._counted:
            if callable(self._tally):
                self._counted[self.drawn] = self._tally()
            elif self.world is None:
                raise ValueError("the statistics need texts: give a world, or a function that computes them")
            else:
                self._counted[self.drawn] = tallied(self.models[self.drawn], self.tokenizer, self.world)
        return self._counted[self.drawn]
