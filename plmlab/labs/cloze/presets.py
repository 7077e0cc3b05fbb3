"""The presets of the Cloze Lab for a Small World, and its questions with their answers."""

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
"""Maximum length of a sentence for which every word is masked in turn to find the most informative one."""


def presets(world: World) -> list[dict[str, Any]]:
    """Sentences of the world with masks. Each is the first sentence found that shows what its title states."""
    wanted: dict[str, Callable[[World, Sentence], list[int]]] = {
        "the right context decides": resolved_by_the_right, "long-distance agreement": agreeing_verb,
        "two dependent masks": agreeing_pair}
    found: dict[str, dict[str, Any]] = {}
    for sentence in islice(world.sentences("train", seed=3), LOOKED_AT):
        for title, gaps in wanted.items():
            if title not in found and (places := gaps(world, sentence)):
                found[title] = {"title": title, "text": " ".join(sentence.words),
                                "hidden": [place + 1 for place in places]}
    return [found[title] for title in wanted if title in found]


def resolved_by_the_right(world: World, sentence: Sentence) -> list[int]:
    """The index of a word after an ambiguous noun that is uncertain given the left context and certain given both
    sides, as a list; [] if there is none."""
    noun = next((place for place, (sense, tag) in enumerate(zip(sentence.senses, sentence.tags, strict=True))
                 if sense and tag == "NOUN"), len(sentence.words))
    words = sentence.words
    for place in range(noun + 1, len(words) - 1):
        left, both = world.next_words(words[:place]), world.posterior(words, [place])[0]
        if left[words[place]] < 0.7 and both[words[place]] > 0.95:
            return [place]
    return []


def agreeing_verb(world: World, sentence: Sentence) -> list[int]:
    """The index of the first verb that is separated from its subject by an attractor (a noun of the other number), as a
    list; [] if there is none."""
    return [link.verb for link in sentence.agreement if link.attractors and link.subject < link.verb][:1]


def agreeing_pair(world: World, sentence: Sentence) -> list[int]:
    """The indices of a subject and its verb with an attractor between them, both uncertain once masked; [] if there are
    none."""
    for link in sentence.agreement:
        places = sorted((link.subject, link.verb))
        if link.attractors and all(len(words) > 1 for words in world.posterior(sentence.words, places)):
            return places
    return []


def telling_word(model: nn.Module, gapped: MaskedSentence, labels: Labels) -> tuple[str, str]:
    """A question and its answer for one mask: which other word, if it is masked too, lowers the model's probability of
    the masked word most? Both are "" if there is no other word, or if the sentence has more than 24 positions."""
    position, = gapped.hidden
    others = [other for other in gapped.may_hide if other != position]
    if not others or len(gapped.ids) > TELLING:
        return "", ""
    hidings = [gapped, *(gapped.hiding([position, other]) for other in others)]
    before, *after = (predicted[position] for predicted in believed(model, hidings))
    true = gapped.true(position)
    target = int(before.argmax()) if true is None else true
    whole, left = float(before[target]), [float(belief[target]) for belief in after]
    lowest = left.index(min(left))
    word, key = labels([target])[0], labels([gapped.ids[others[lowest]]])[0]
    question = f"Mask one more word, so that “{word}” becomes as hard to predict as possible. Which one?"
    if left[lowest] >= whole:
        return question, f"None: whatever else is masked, the model assigns “{word}” at least {share(whole)}."
    needed = "" if left[lowest] < 0.7 * whole else " No single word is essential: others carry the same information."
    return question, (f"“{key}” (position {others[lowest]}). With it masked too, the model assigns “{word}” "
                      f"{share(left[lowest])} instead of {share(whole)}.{needed} Mask it, and see.")


def pair_question(pair: Crossed) -> tuple[str, str]:
    """A question and its answer for two masks: how often do independent predictions form an impossible pair?"""
    question = "The model predicts both masked words independently. How often are the two words incompatible?"
    worst = pair["worst"]
    if worst is None:
        return question, "Hardly ever: these two masks can be filled independently. Try a subject and its verb."
    one, other = worst["words"]
    impossible, unavoidable = pair["impossible"], pair["unavoidable"]
    if impossible is None or unavoidable is None:
        return question, (f"Consider “{one} … {other}”: the product assigns it {share(worst['product'])}. If “{one}” "
                          f"is filled in first, the same model assigns the pair {share(worst['together'])}.")
    return question, (f"In {share(impossible)} of the cases, no sentence contains the pair. Longer training would not "
                      "help: with independent predictions, even the Bayes-optimal predictor would generate such pairs "
                      f"in {share(unavoidable)} of the cases. Fill in one word first, and the other depends on it.")
