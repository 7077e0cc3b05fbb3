"""Presets of the Permutation Lab: sentences and orders to try."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from plmlab.world import World
from plmlab.world.grammar.sentence import Sentence

LOOKED_AT = 300
SHORT, LONG = 5, 8
"""Length of the short sentence, for which all orders are evaluated, and minimum length of the long one."""


@dataclass(frozen=True)
class PermutationPreset:
    """A preset of the Permutation Lab: a sentence (None keeps the current one), a factorization order as word indices
    (None samples one), and whether the query stream attends to the target itself (``leak``)."""

    title: str
    text: str | None = None
    order: Sequence[int] | None = None
    leak: bool = False

    def traits(self) -> dict[str, Any]:
        """The trait values that clicking this preset sets."""
        text = {} if self.text is None else {"text": self.text}
        return {**text, "order": None if self.order is None else list(self.order), "leak": self.leak, "step": None}


def default_presets(world: World, split: str) -> list[PermutationPreset]:
    """Presets from a world, as far as it has suitable sentences: a short sentence with subject–verb agreement whose
    verb is predicted first or last; the same sentence with an incorrect verb; and a long sentence with attractors
    between subject and verb."""
    sample = list(islice(world.sentences(split, seed=3), LOOKED_AT))
    short = next((sentence for sentence in sample if len(sentence.words) == SHORT and sentence.agreement), None)
    distant = (sentence for sentence in sample if any(link.attractors for link in sentence.agreement))
    long = next((sentence for sentence in distant if len(sentence.words) >= LONG), None)
    presets = []
    if short is not None:
        text, order = " ".join(short.words), verb_first(short)
        presets = [PermutationPreset("the verb first", text, order),
                   PermutationPreset("the verb last", text, order[::-1])]
        if wrong := disagreeing(world, short, split):
            presets.append(PermutationPreset("an incorrect verb", " ".join(wrong), order))
    if long is not None:
        presets.append(PermutationPreset("a long sentence", " ".join(long.words)))
    return presets


def verb_first(sentence: Sentence) -> list[int]:
    """An order that starts with the verb and continues from the ends of the sentence to the middle; the subject is
    second to last."""
    link = sentence.agreement[0]
    others = [place for place in range(len(sentence.words)) if place not in (link.verb, link.subject)]
    ends = [others.pop(-1 if turn % 2 == 0 else 0) for turn in range(len(others))]
    return [link.verb, *ends[:-1], link.subject, *ends[-1:]]


def disagreeing(world: World, sentence: Sentence, split: str) -> list[str] | None:
    """The sentence with a verb that other subjects allow but this subject does not; None if there is none."""
    link = sentence.agreement[0]
    agreeing = world.posterior(sentence.words, [link.verb], split)[0]
    any_verb = world.posterior(sentence.words, [link.subject, link.verb], split)[int(link.subject < link.verb)]
    other = next((word for word in sorted(any_verb) if word not in agreeing), None)
    return None if other is None else [*sentence.words[:link.verb], other, *sentence.words[link.verb + 1:]]
