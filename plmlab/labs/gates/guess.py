"""The question that the Gate Lab asks before one looks: what if the unit that tells the subject's number forgets?"""

from collections.abc import Sequence
from dataclasses import asdict

from plmlab.interpret.gates import Clamp
from plmlab.labs.gates.gold import Gold
from plmlab.labs.gates.state import Guess

TITLES = {"sg": "singular", "pl": "plural"}
SURE = 0.6
"""Below this share of the verbs' mass a model does not know which number is right."""
HARDLY = 0.05
WRITTEN = 3.0
"""What is written for a number, up or down: tanh 3 is 0.995."""


def forgetting(known: Gold | None, steps: int, layer: int, unit: int) -> Clamp | None:
    """The forget gate of a unit shut from the first word after the subject on; None where no verb waits for a subject
    read earlier than at the last of so many steps."""
    number = known.tracks.number[:steps] if known else ()
    if not number or number[-1] is None:
        return None
    first = len(number) - next((i for i, label in enumerate(reversed(number)) if label is None), len(number))
    return Clamp("forget", layer, unit, 0.0, first + 1) if first + 1 < steps else None


def overwriting(known: Gold, steps: int, layer: int, unit: int, rises: bool) -> Clamp:
    """The number that the subject has not, written into the memory of a unit at the last of so many steps; ``rises`` is
    whether the unit is higher for the plural."""
    plural = known.tracks.number[steps - 1] == "pl"
    return Clamp("memory", layer, unit, WRITTEN if rises != plural else -WRITTEN, steps - 1)


def question(forget: Clamp, write: Clamp, known: Gold, names: Sequence[str], shares: Sequence[float]) -> Guess:
    """The question of a text that stops before a verb, and its answer. ``shares``: what verbs of the subject's number
    have of the mass on all verbs, as the model reads, when it forgets, and when the other number is written."""
    last = len(names) - 1
    number, noun = (TITLES[label or "sg"] for label in (known.tracks.number[last], known.tracks.noun[last]))
    read = f", and the noun read last is {noun}" if noun != number else ""
    whose = f"layer {forget.layer}, unit {forget.unit}"
    asked = (f"A verb can come now. Its subject, “{names[forget.start - 1]}”, is {number}{read}. Shut the forget gate "
             f"of {whose} from “{names[forget.start]}” on: will the model still say a {number} verb? And if the other "
             f"number is written into its memory after “{names[write.start]}”?")
    was, forgot, wrote = shares
    told = f"Of the mass that it gives to verbs, the {number} ones have {was:.2f}"
    if was < SURE:
        told += ": it does not know the number, and has little to forget. "
    elif forgot < 0.5:
        told += f", and {forgot:.2f} when the unit forgets: it says the other number then. "
    elif was - forgot > HARDLY:
        told += f", and {forgot:.2f} when the unit forgets: it is less sure, for its memory says less. "
    else:
        told += f", and {forgot:.2f} when the unit forgets: that alone hardly matters. "
    told += f"With the other number written ({write.value:+.0f}) they have {wrote:.2f}: ".replace("-", "−")
    told += ("this unit decides the verb." if wrote < 0.5 <= was else "this unit has a say, and others too."
             if was - wrote > HARDLY else "to tell a label is not to be needed for it.")
    return {"question": asked, "answer": told, "hold": asdict(forget), "write": asdict(write)}
