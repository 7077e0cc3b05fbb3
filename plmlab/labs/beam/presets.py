"""Presets of the Beam Lab: prompts, each of which is verified to show what its title states."""

from collections.abc import Callable
from dataclasses import dataclass

from plmlab.decode import Hypothesis, TableLM
from plmlab.labs.beam.adapters import Adapter
from plmlab.labs.beam.exact import PrefixProbabilities
from plmlab.labs.beam.tree import Search, greedily

APPLE = TableLM({"我爱苹果": 0.45, "我爱大象": 0.10, "我爱大人": 0.08, "我爱大妈": 0.12, "我爱大便": 0.05,
                 "我爱大军": 0.05, "我爱大米": 0.08, "我爱大姐": 0.07})
"""An example from a study note: 大 is more likely than 苹, but 苹果 is more likely than any word starting with 大."""


def table(prompt: str, **probabilities: float) -> TableLM:
    """A table of texts with a common prompt. Each keyword is a continuation, with words separated by ``_``, and its
    value is the probability."""
    return TableLM({(*prompt.split(), *words.split("_")): p for words, p in probabilities.items()})


GARDEN = table("the horse", raced_past_the_barn=0.15, raced_past_the_house=0.12, raced_home=0.15, raced_away=0.13,
               fell=0.45)
WIDER = table("the old", man_sleeps=0.18, man_walks=0.08, man_reads=0.07, man_sings=0.07,
              town_has_walls=0.05, town_has_towers=0.05, town_has_bells=0.045, town_has_gates=0.045,
              town_is_quiet=0.05, town_is_empty=0.05, town_is_small=0.045, town_is_large=0.045,
              woman_smiles=0.12, woman_waits=0.10)
LONGER = table("she", said_yes=0.28, said_that_the_train_would_be_late=0.25, slept=0.27, left=0.20)


@dataclass(frozen=True)
class Preset:
    """A preset: a prompt with its settings, and the ``table`` to decode from (None for the lab's model)."""

    title: str
    text: str
    width: int = 4
    alpha: float = 0.0
    table: TableLM | None = None


FIRST = Preset("苹果", "我爱", 2, table=APPLE)
TABLES = (Preset("a garden path", "the horse", 2, table=GARDEN),
          Preset("a wider beam is worse", "the old", 2, table=WIDER))
PENALTY = Preset("length penalty prefers long texts", "she", 2, 1.0, LONGER)
REAL = (Preset("a garden path", "the butchers", 3), Preset("a wider beam is worse", "the paintings", 4),
        Preset("likely for the model, unlikely in the world", "Noah Farrow met", 5))
"""Prompts from the full world for which ``lstm-world`` and ``gpt2-world`` show what the title states."""


def default_presets(writer: Adapter | None, length: int) -> list[Preset]:
    """The presets. Each uses the given model if that shows what the title states, and a table otherwise."""
    own = {} if writer is None else {preset.title: preset for preset in REAL if holds(writer, preset, length)}
    cases = [own.pop(preset.title, preset) for preset in TABLES]
    return [FIRST, *cases, PENALTY, *own.values()]


def holds(writer: Adapter, preset: Preset, length: int) -> bool:
    """Return whether a model shows what the preset's title states."""
    try:
        ids, note = writer.read(preset.text, length)
    except ValueError:
        return False
    begun = PrefixProbabilities(writer.beside, writer.words(preset.text)) if writer.beside else None
    if note or (begun and begun.left):
        return False
    greedy = greedily(writer, ids, length)[-1]
    found, narrower = (Search(writer, tuple(ids), begun, length, width, preset.alpha).best()
                       for width in (preset.width, preset.width - 1))
    return found is not None and narrower is not None and TESTS[preset.title](begun, greedy, narrower, found)


def astray(_: PrefixProbabilities | None, greedy: Hypothesis, __: Hypothesis, found: Hypothesis) -> bool:
    """Return whether the beam's text is at least e times as likely as the greedy text."""
    return found.logprob > greedy.logprob + 1


def worse(_: PrefixProbabilities | None, __: Hypothesis, narrower: Hypothesis, found: Hypothesis) -> bool:
    """Return whether a beam with a width smaller by 1 finds a text that is at least e times as likely."""
    return narrower.logprob > found.logprob + 1


def untrue(begun: PrefixProbabilities | None, greedy: Hypothesis, _: Hypothesis, found: Hypothesis) -> bool:
    """Return whether the beam's text is more likely than the greedy text under the model, but less likely under the
    world."""
    if begun is None:
        return False
    beam, plain = (begun.total(text.tokens) for text in (found, greedy))
    return found.logprob > greedy.logprob and plain is not None and (beam is None or beam < plain)


TESTS: dict[str, Callable[[PrefixProbabilities | None, Hypothesis, Hypothesis, Hypothesis], bool]] = {
    REAL[0].title: astray, REAL[1].title: worse, REAL[2].title: untrue,
}
