"""Sentences and orders to try in the Permutation Lab."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from plmlab.world import World
from plmlab.world.grammar.sentence import Sentence

LOOKED_AT = 300
SHORT, LONG = 5, 8
"""Words of the short sentence, of which all orders are tried, and of the long one at least."""


@dataclass(frozen=True)
class PermutationPreset:
    """Something to try in the Permutation Lab: a sentence (None: the one that stands), an order of the places of its
    words (None: one that the lab draws), and whether the query stream sees its own word."""

    title: str
    text: str | None = None
    order: Sequence[int] | None = None
    leak: bool = False

    def traits(self) -> dict[str, Any]:
        """The lab's traits that a click on this preset sets, with their values."""
        text = {} if self.text is None else {"text": self.text}
        return {**text, "order": None if self.order is None else list(self.order), "leak": self.leak, "step": None}


def things_to_try(world: World, split: str) -> list[PermutationPreset]:
    """A short sentence whose subject and verb agree, the verb said first, and last; the same with a verb that does not
    agree; and a long one whose verb stands far from its subject. Each where the world has such a sentence."""
    said = list(islice(world.sentences(split, seed=3), LOOKED_AT))
    short = next((one for one in said if len(one.words) == SHORT and one.agreement), None)
    apart = (one for one in said if any(link.attractors for link in one.agreement))
    long = next((one for one in apart if len(one.words) >= LONG), None)
    made = []
    if short is not None:
        text, order = " ".join(short.words), verb_first(short)
        made = [PermutationPreset("the verb first", text, order), PermutationPreset("the verb last", text, order[::-1])]
        if wrong := disagreeing(world, short, split):
            made.append(PermutationPreset("a verb that is wrong", " ".join(wrong), order))
    if long is not None:
        made.append(PermutationPreset("a long sentence", " ".join(long.words)))
    return made


def verb_first(sentence: Sentence) -> list[int]:
    """An order: the verb, then from the ends of the sentence to its middle, the subject behind all but the last."""
    link = sentence.agreement[0]
    others = [place for place in range(len(sentence.words)) if place not in (link.verb, link.subject)]
    ends = [others.pop(-1 if turn % 2 == 0 else 0) for turn in range(len(others))]
    return [link.verb, *ends[:-1], link.subject, *ends[-1:]]


def disagreeing(world: World, sentence: Sentence, split: str) -> list[str] | None:
    """The sentence with a verb that some other subject has there, and this one never; None where there is none."""
    link = sentence.agreement[0]
    agreeing = world.posterior(sentence.words, [link.verb], split)[0]
    any_verb = world.posterior(sentence.words, [link.subject, link.verb], split)[int(link.subject < link.verb)]
    other = next((word for word in sorted(any_verb) if word not in agreeing), None)
    return None if other is None else [*sentence.words[:link.verb], other, *sentence.words[link.verb + 1:]]
