"""The exact probability of a typed sentence in the Small World, word by word, with Bayes-optimal predictions."""

from collections.abc import Mapping, Sequence
from math import exp, isfinite, log
from random import Random
from typing import Any, TypedDict

from plmlab.draws import shuffled
from plmlab.text.printable import printable
from plmlab.world import World
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.probability.automaton import END
from plmlab.world.probability.posterior import NotInGrammar

SHOWN = 7
MARKS = ".?!,"


class Believed(TypedDict):
    """A distribution over the word at a position, as returned by `belief`."""

    likeliest: list[list[Any]]
    own: float
    choices: int


class Column(TypedDict):
    """A word, its surprisal, and the distributions at its position given the left context and given both sides."""

    word: str
    nats: float | None
    left: Believed | None
    both: Believed | None


class Gain(TypedDict):
    """A word, with its surprisal given the left context and given both sides."""

    position: int
    word: str
    nats: float
    left: float
    both: float


class End(TypedDict):
    """The end of a sentence."""

    nats: float
    p: float


class Known(TypedDict):
    """The entries of the state that exist for every sentence."""

    words: list[Column]
    valid: bool
    prefix: int
    said: str
    expected: list[list[Any]]
    choices: int


class ProbabilityState(Known, total=False):
    """A sentence word by word, as returned by `probability_state`."""

    end: End
    nats: float
    perplexity: float
    gain: Gain


def words_of(text: str, world: World) -> list[str]:
    """Split a typed sentence into the world's words: punctuation marks become separate words, and the first word is
    lower-cased if this makes a longer prefix grammatical."""
    known, words = frozenset(world.vocabulary), list[str]()
    for typed in text.split():
        word = typed.rstrip(MARKS) if typed not in known else typed
        words += [word] if word else []
        words += typed[len(word):]
    lowered = [word[:1].lower() + word[1:] for word in words[:1]] + words[1:]
    return max(words, lowered, key=lambda candidate: world.explain(candidate).prefix)


def spelled(text: str, world: World) -> str:
    """Convert a typed text to the world's spelling: its words, separated by spaces."""
    return " ".join(words_of(text, world))


def likeliest(beliefs: Mapping[str, float], count: int = SHOWN) -> list[list[Any]]:
    """The ``count`` most probable words of a distribution as [word, probability], in descending order."""
    ranked = sorted(beliefs.items(), key=lambda item: (-item[1], item[0]))
    return [[word, p] for word, p in ranked[:count]]


def belief(beliefs: Mapping[str, float], word: str) -> Believed:
    """Summarise a distribution at a position: ``likeliest``, the most probable words; ``own``, the probability of
    ``word``; and ``choices``, the number of possible words."""
    return {"likeliest": likeliest(beliefs), "own": beliefs.get(word, 0.0), "choices": len(beliefs)}


def probability_state(world: World, words: Sequence[str]) -> ProbabilityState:
    """Analyse a sentence word by word, as a dict for JavaScript; all surprisals are in nats.

    Each word of the grammatical prefix has its surprisal and the distribution given the words before it (``left``). A
    word also has the distribution given all other words (``both``) if those occur together in some sentence. For a
    sentence of the world, the dict also has the total surprisal (``nats``), the ``perplexity``, and ``gain``, the word
    whose prediction is improved most by the right context.
    """
    explained = world.explain(words)
    columns = [_column(world, words, place, explained.prefix) for place in range(len(words))]
    state: ProbabilityState = {
        "words": columns, "valid": explained.valid, "prefix": explained.prefix, "said": explained.message,
        "expected": likeliest(explained.expected), "choices": len(explained.expected),
    }
    if explained.valid:
        end = explained.expected[END]
        nats = -world.logprob(words)
        state.update({"end": {"nats": -log(end), "p": end}, "nats": nats, "perplexity": exp(nats / (len(words) + 1)),
                      "gain": _gain(columns)})
    return state


def _column(world: World, words: Sequence[str], place: int, prefix: int) -> Column:
    word = words[place]
    left = world.next_words(words[:place]) if place <= prefix else {}
    try:
        both = world.posterior(words, [place])[0]
    except NotInGrammar:
        both = {}
    return {"word": printable(word), "nats": -log(left[word]) if left.get(word) else None,
            "left": belief(left, word) if left else None, "both": belief(both, word) if both else None}


def _gain(columns: Sequence[Column]) -> Gain:
    """The word whose prediction is improved most by the right context."""
    shares = [(column["left"]["own"], column["both"]["own"]) for column in columns if column["left"] and column["both"]]
    gains = [log(both / left) for left, both in shares]
    place = max(range(len(gains)), key=gains.__getitem__)
    return {"position": place, "word": columns[place]["word"], "nats": gains[place],
            "left": shares[place][0], "both": shares[place][1]}


def presets(world: World) -> list[dict[str, str]]:
    """Example sentences as title and text: one sentence of the world, and three that are not in it, each for a
    different reason."""
    sample = list(_some(world))
    texts = {"an ambiguous word": (" ".join(sentence.words) for sentence in sample if ambiguous(sentence)),
             "break the agreement": (disagreeing(world, sentence) for sentence in sample),
             "state something false": (untrue(world, sentence) for sentence in sample),
             "an unknown word": ["the wombat sleeps ."]}
    first = {title: next(filter(None, candidates), None) for title, candidates in texts.items()}
    return [{"title": title, "text": text} for title, text in first.items() if text]


def _some(world: World) -> list[Sentence]:
    stream = world.sentences("train", seed=3)
    return [next(stream) for _ in range(200)]


def ambiguous(sentence: Sentence) -> bool:
    """Return whether one of the first three words is an ambiguous noun that is followed by enough context to resolve
    its sense."""
    return any(sense and tag == "NOUN" for sense, tag in zip(sentence.senses[:3], sentence.tags, strict=False)) \
        and len(sentence.words) > 6


def disagreeing(world: World, sentence: Sentence) -> str | None:
    """The sentence with a verb in the wrong number after an attractor noun; None if the sentence has no such verb."""
    for link in sentence.agreement:
        if not link.attractors or link.verb < link.subject:
            continue
        words = list(sentence.words)
        for other in _forms(world, words[link.verb]):
            changed = [*words[:link.verb], other, *words[link.verb + 1:]]
            if world.explain(changed).prefix == link.verb:
                return " ".join(changed)
    return None


def _forms(world: World, verb: str) -> list[str]:
    pairs = [("is", "are"), ("was", "were"), ("has", "have")]
    other = [b if verb == a else a for a, b in pairs if verb in (a, b)]
    return other or [form for word, _ in world.lexicon.readings.get(verb, []) for name, form in word.forms.items()
                     if name in ("base", "third") and form != verb]


def untrue(world: World, sentence: Sentence) -> str | None:
    """The sentence with its last entity replaced by another of the same kind, so that the stated fact is false; None if
    the sentence does not state exactly one fact, or if no replacement makes it false."""
    if len(sentence.facts) != 1 or len(sentence.mentions) < 2:
        return None
    start, end, key = sentence.mentions[-1]
    others = [other for other in world.facts.kind(world.facts[key].kind) if other.key != key]
    for other in shuffled(Random(0), others)[:5]:
        words = [*sentence.words[:start], *other.words, *sentence.words[end:]]
        if not isfinite(world.logprob(words)):
            return " ".join(words)
    return None
