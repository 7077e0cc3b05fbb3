"""What the Cloze Lab offers to try of a Small World, and what it asks to be guessed before one looks."""

from collections.abc import Callable
from itertools import islice
from typing import Any

from torch import nn

from plmlab.labs.cloze.readers import MaskedSentence, believed
from plmlab.labs.cloze.state import Crossed
from plmlab.labs.shared.beliefs import Labels, share
from plmlab.world import World
from plmlab.world.grammar.sentence import Sentence

LOOKED_AT = 300
TELLING = 24
"""The longest sentence that is read once more for each of its words, to find which one tells most."""


def presets(world: World) -> list[dict[str, Any]]:
    """Sentences of the world with their gaps: each is the first one found that shows its point."""
    wanted: dict[str, Callable[[World, Sentence], list[int]]] = {
        "the right side tells": resolved_by_the_right, "agreement at a distance": agreeing_verb,
        "two gaps that depend on each other": agreeing_pair}
    found: dict[str, dict[str, Any]] = {}
    for sentence in islice(world.sentences("train", seed=3), LOOKED_AT):
        for title, gaps in wanted.items():
            if title not in found and (places := gaps(world, sentence)):
                found[title] = {"title": title, "text": " ".join(sentence.words),
                                "hidden": [place + 1 for place in places]}
    return [found[title] for title in wanted if title in found]


def resolved_by_the_right(world: World, sentence: Sentence) -> list[int]:
    """The place of a word behind an ambiguous noun, open to who has read so far, certain to
    who reads on; [] for none."""
    noun = next((place for place, (sense, tag) in enumerate(zip(sentence.senses, sentence.tags, strict=True))
                 if sense and tag == "NOUN"), len(sentence.words))
    words = sentence.words
    for place in range(noun + 1, len(words) - 1):
        left, both = world.next_words(words[:place]), world.posterior(words, [place])[0]
        if left[words[place]] < 0.7 and both[words[place]] > 0.95:
            return [place]
    return []


def agreeing_verb(world: World, sentence: Sentence) -> list[int]:
    """The place of the first verb that has a noun of the other number between its subject and itself; [] for none."""
    return [link.verb for link in sentence.agreement if link.attractors and link.subject < link.verb][:1]


def agreeing_pair(world: World, sentence: Sentence) -> list[int]:
    """The places of a subject and its verb that a noun of the other number parts, both open
    once hidden; [] for none."""
    for link in sentence.agreement:
        places = sorted((link.subject, link.verb))
        if link.attractors and all(len(found) > 1 for found in world.posterior(sentence.words, places)):
            return places
    return []


def telling_word(model: nn.Module, gapped: MaskedSentence, labels: Labels) -> tuple[str, str]:
    """A question and its answer, for one gap: which other word, hidden too, takes most from what the model gives the
    word in the gap? Both are "" where there is no other word, or the sentence is longer than 24 positions."""
    position, = gapped.hidden
    others = [other for other in gapped.may_hide if other != position]
    if not others or len(gapped.ids) > TELLING:
        return "", ""
    hidings = [gapped, *(gapped.hiding([position, other]) for other in others)]
    before, *after = (found[position] for found in believed(model, hidings))
    true = gapped.true(position)
    said = int(before.argmax()) if true is None else true
    whole, left = float(before[said]), [float(belief[said]) for belief in after]
    most = left.index(min(left))
    word, key = labels([said])[0], labels([gapped.ids[others[most]]])[0]
    question = f"One more word is to be hidden, so that “{word}” becomes as hard to guess as it can. Which one?"
    if left[most] >= whole:
        return question, f"None: whatever else is hidden, the model gives “{word}” no less than {share(whole)}."
    needed = "" if left[most] < 0.7 * whole else " No single word is needed: others tell the same."
    return question, (f"“{key}” (position {others[most]}). With it hidden too, the model gives “{word}” "
                      f"{share(left[most])} instead of {share(whole)}.{needed} Hide it, and look.")


def pair_question(pair: Crossed) -> tuple[str, str]:
    """A question and its answer, for two gaps: how often will guesses made apart not fit together?"""
    question = "The model fills both gaps at once, neither knowing of the other. How often will they not fit together?"
    worst = pair["worst"]
    if worst is None:
        return question, "Hardly ever: these two gaps can be filled apart. Try a subject and its verb."
    one, other = worst["words"]
    impossible, unavoidable = pair["impossible"], pair["unavoidable"]
    if impossible is None or unavoidable is None:
        return question, (f"Look at “{one} … {other}”: the product gives it {share(worst['product'])}. Once “{one}” "
                          f"stands there, the same model gives the pair {share(worst['together'])}.")
    return question, (f"In {share(impossible)} of all cases the pair is one that no sentence has. Training "
                      "longer would not help: the best possible reader, if it had to answer in this way, would write "
                      f"such pairs in {share(unavoidable)}. Fill one gap first, and the other will know of it.")
