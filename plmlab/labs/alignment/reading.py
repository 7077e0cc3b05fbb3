"""Parse the text of the Alignment Lab into sentences of a world, with the gold alignment where one is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite

from plmlab.labs.shared import probabilities
from plmlab.labs.shared.notes import empty, joined, left_out
from plmlab.labs.shared.tokens import labels
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World
from plmlab.world.datasets import passages
from plmlab.world.datasets.passages import Passage
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.probability.posterior import NotInGrammar

ENDS = (".", "?", "!")
NAMED = 3
"""The maximum number of unknown words that the note lists."""


@dataclass(frozen=True)
class Source:
    """A tokenized text: one label and one id per position, excluding ``end``. ``unknown`` lists the positions of [UNK];
    ``gold`` is the text as a passage of the world, or None; ``note`` is the message to show."""

    words: tuple[str, ...]
    ids: tuple[int, ...]
    end: int
    unknown: tuple[int, ...]
    gold: Passage | None
    note: str


def read(text: str, tokenizer: Tokenizer, world: World | None, split: str, room: int) -> Source:
    """Parse the first ``room`` words of a text. Raises ValueError if the text is empty."""
    if not text.strip():
        raise empty()
    end = tokenizer.vocab.need("end")
    if world is None:
        ids = [_known(id, tokenizer) for id in tokenizer.encode(text, plain=True)]
        cut = left_out(len(ids) - room, room)
        unknown = tuple(position for position, id in enumerate(ids[:room]) if id == tokenizer.vocab.unk)
        return Source(tuple(labels(tokenizer, ids[:room])), tuple(ids[:room]), end, unknown, None, cut)
    typed = words_of(text, world, room)
    words, added = finished(typed.words, world, split) if not typed.left else (typed.words, "")
    ids = [_id(word, tokenizer) for word in words]
    gold, why = gold_of(words, world, split)
    unknown = tuple(position for position, id in enumerate(ids) if id == tokenizer.vocab.unk)
    note = joined(left_out(typed.left, room, "word"), added, unknown_note([words[i] for i in unknown], world), why)
    return Source(tuple(words), tuple(ids), end, unknown, gold, note)


@dataclass(frozen=True)
class Typed:
    """Words normalized to the world's spelling, and the number of typed words that were cut off."""

    words: list[str]
    left: int


def words_of(text: str, world: World, room: int) -> Typed:
    """Split a typed text into words: punctuation marks become separate words, and capitals that the world does not use
    there are lower-cased."""
    said = probabilities.words_of(text, world)
    known = frozenset(world.vocabulary)
    words = [word.lower() if word not in known and word.lower() in known else word for word in said[:room]]
    for place, word in enumerate(words):
        begins = place == 0 or words[place - 1] in ENDS
        if begins and word != word.lower() and _further([word.lower(), *words[place + 1:]], words[place:], world):
            words[place] = word.lower()
    return Typed(words, len(said) - len(words))


def finished(words: Sequence[str], world: World, split: str) -> tuple[list[str], str]:
    """Add missing final punctuation if that turns the words into sentences. Returns the words, and a note if
    punctuation was added."""
    if words[-1] in ENDS:
        return list(words), ""
    for mark in ENDS[:2]:
        try:
            sentences_of([*words, mark], world, split)
        except NotInGrammar:
            continue
        return [*words, mark], f"“{mark}” was added at the end."
    return list(words), ""


def gold_of(words: Sequence[str], world: World, split: str) -> tuple[Passage | None, str]:
    """Parse the words as a passage of the world; if that fails, return None and a note on where they leave the
    grammar."""
    try:
        return passages.joined(sentences_of(words, world, split), world.lexicon), ""
    except NotInGrammar as error:
        return None, f"This is not a text of the Small World, so its gold alignment is unknown. {error}"


def sentences_of(words: Sequence[str], world: World, split: str) -> list[Sentence]:
    """Split words into sentences of the world; one sentence may contain a question and its answer. Raises NotInGrammar,
    which gives the sentence and the word, if no split exists."""
    found: list[Sentence] = []
    begun = 0
    while begun < len(words):
        ends = [end for end in range(begun + 1, len(words) + 1) if end == len(words) or words[end - 1] in ENDS][:2]
        end = next((end for end in reversed(ends) if isfinite(world.logprob(words[begun:end], split))), None)
        if end is None:
            where = f"Sentence {len(found) + 1}, word" if found else "Word"
            said = world.explain(words[begun:ends[-1]], split).message
            raise NotInGrammar(f"{where}{said.removeprefix('Word')}" if said.startswith("Word ") else said)
        found.append(world.parse(words[begun:end], split))
        begun = end
    return found


def unknown_note(words: Sequence[str], world: World) -> str:
    """Note on out-of-vocabulary words, which suggests words of the world with similar spelling."""
    told = []
    for word in list(dict.fromkeys(words))[:NAMED]:
        near = get_close_matches(word.lower(), world.vocabulary, NAMED, 0.5)
        alike = f"; similar words: {', '.join(f'“{one}”' for one in near)}" if near else ""
        told.append(f"“{word[:24]}” is not a word of this world{alike}.")
    more = len(set(words)) - len(told)
    told += [f"{more} more {'word is' if more == 1 else 'words are'} not in its vocabulary."] if more > 0 else []
    told += ["The model's input there is [UNK], which never occurred in training."] if words else []
    return " ".join(told)


def _further(one: Sequence[str], other: Sequence[str], world: World) -> bool:
    return world.explain(one).prefix > world.explain(other).prefix


def _id(word: str, tokenizer: Tokenizer) -> int:
    """The id of a word; the id of [UNK] if the word is not exactly one token."""
    ids = tokenizer.encode(word, plain=True)
    return _known(ids[0], tokenizer) if len(ids) == 1 else tokenizer.vocab.need("unk")


def _known(id: int, tokenizer: Tokenizer) -> int:
    """Map the id of a typed special token to [UNK]; other ids are unchanged."""
    return tokenizer.vocab.need("unk") if id in tokenizer.vocab.special else id
