"""The "Guess first" question of the Gate Lab: what happens if the unit that encodes the subject's number forgets it?"""

from collections.abc import Sequence
from dataclasses import asdict

from plmlab.interpret.gates import Clamp
from plmlab.labs.gates.gold import Gold
from plmlab.labs.gates.state import Guess

TITLES = {"sg": "singular", "pl": "plural"}
SURE = 0.6
"""Below this fraction of the verbs' probability mass, a model does not know the correct number."""
HARDLY = 0.05
"""A change of this fraction or less hardly matters."""
WRITTEN = 3.0
"""Cell state that is set for one number, and its negative for the other: tanh 3 is 0.995."""


def forgetting(known: Gold | None, steps: int, layer: int, unit: int) -> Clamp | None:
    """A clamp that closes a unit's forget gate from the first word after the subject on. Returns None unless, after
    ``steps`` positions, the text has a subject before its last word whose verb has not occurred yet."""
    number = known.tracks.number[:steps] if known else ()
    if not number or number[-1] is None:
        return None
    first = len(number) - next((i for i, label in enumerate(reversed(number)) if label is None), len(number))
    return Clamp("forget", layer, unit, 0.0, first + 1) if first + 1 < steps else None


def overwriting(known: Gold, steps: int, layer: int, unit: int, rises: bool) -> Clamp:
    """A clamp that sets a unit's cell state, at the last of ``steps`` positions, to a value that encodes the opposite
    of the subject's number. ``rises`` is True if the unit's value is higher for plural subjects."""
    plural = known.tracks.number[steps - 1] == "pl"
    return Clamp("memory", layer, unit, WRITTEN if rises != plural else -WRITTEN, steps - 1)


def question(forget: Clamp, write: Clamp, known: Gold, names: Sequence[str], shares: Sequence[float]) -> Guess:
    """The question about a text that ends before a verb, and its answer.

    ``shares`` are fractions of the verbs' probability mass that verbs of the subject's number receive: without a clamp,
    with the ``forget`` clamp, and with the ``write`` clamp.
    """
    last = len(names) - 1
    number, noun = (TITLES[label or "sg"] for label in (known.tracks.number[last], known.tracks.noun[last]))
    attractor = f", and the last noun is {noun}" if noun != number else ""
    whose = f"layer {forget.layer}, unit {forget.unit}"
    prompt = (f"A verb may follow. Its subject, “{names[forget.start - 1]}”, is {number}{attractor}. Close the forget "
              f"gate of {whose} from “{names[forget.start]}” on: will the model still predict a {number} verb? And if "
              f"its cell state is set to the opposite number after “{names[write.start]}”?")
    was, forgot, wrote = shares
    answer = f"{number.capitalize()} verbs have {was:.2f} of the probability mass on verbs"
    if was < SURE:
        answer += ". The model does not encode the number, so closing the gate can change little. "
    elif forgot < 0.5:
        answer += f", and {forgot:.2f} with the gate closed. The model then predicts the opposite number. "
    elif was - forgot > HARDLY:
        answer += f", and {forgot:.2f} with the gate closed. The cell state then carries less information. "
    else:
        answer += f", and {forgot:.2f} with the gate closed. Closing it hardly changes the prediction. "
    answer += f"With the cell state set to the opposite number ({write.value:+.0f}), they have {wrote:.2f}: ".replace(
        "-", "−")
    answer += ("this unit decides the verb." if wrote < 0.5 <= was else "this unit contributes, as do others."
               if was - wrote > HARDLY else "a unit can encode a label without being needed for it.")
    return {"question": prompt, "answer": answer, "hold": asdict(forget), "write": asdict(write)}
