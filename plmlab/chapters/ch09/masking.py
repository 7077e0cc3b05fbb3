"""Masking on texts of the Small World: a WordPiece tokenizer that knows the world's entities, examples as text, and
counts of the words and entities that masking leaves partly visible."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, reduce
from itertools import islice
from operator import add
from random import Random

from plmlab import world
from plmlab.example import IGNORE, Example
from plmlab.text import Text, Tokenizer
from plmlab.text.gazetteer import Gazetteer
from plmlab.text.text import Spans

SENTENCES, VOCAB = 5000, 1000


@cache
def world_wordpieces() -> Gazetteer:
    """A WordPiece tokenizer with 1,000 tokens, trained on 5,000 sentences of the Small World; the entities of its texts
    are the names of persons, towns, cafés, films and so on."""
    full = world.full()
    lines = [" ".join(sentence.words) for sentence in islice(full.sentences("train", seed=0), SENTENCES)]
    names = {entity.name: entity.kind for entity in full.facts.entities.values() if entity.named}
    return Gazetteer(names, Tokenizer.wordpiece(lines, VOCAB, lowercase=False))


def evaluation_texts(texts: int = 100, sentences: int = 10) -> list[Text]:
    """Texts of ``sentences`` random sentences each, about 120 tokens, drawn from the test set of the Small World."""
    tokenizer = world_wordpieces()
    lines = islice(world.full().sentences("test", seed=9), texts * sentences)
    encoded = [tokenizer.text(" ".join(sentence.words)) for sentence in lines]
    return [reduce(add, encoded[start:start + sentences]) for start in range(0, len(encoded), sentences)]


def input_tokens(example: Example, tokenizer: Gazetteer) -> str:
    """The input of an example as text, special tokens included."""
    return " ".join(tokenizer.tokens(example.tokens.tolist()))


def target_tokens(example: Example, tokenizer: Gazetteer) -> str:
    """The tokens to predict, in text order."""
    return " ".join(tokenizer.tokens(example.targets[example.targets != IGNORE].tolist()))


def selected(example: Example) -> set[int]:
    """The selected positions of the text; its first token is 0, so [CLS] is not counted."""
    return {position - 1 for position in (example.targets != IGNORE).nonzero().flatten().tolist()}


@dataclass
class Exposure:
    """Counts over many masked texts: tokens, selected tokens, and ``touched`` units (with at least one selected token),
    of which ``split`` ones keep a token that is not selected."""

    tokens: int = 0
    selected: int = 0
    touched_words: int = 0
    split_words: int = 0
    touched_entities: int = 0
    split_entities: int = 0

    def count(self, text: Text, chosen: set[int], words: Spans, entities: Spans) -> None:
        """Add one masked text, of whose words and entities these are counted."""
        self.tokens += len(text)
        self.selected += len(chosen)
        for kind, units in (("words", words), ("entities", entities)):
            shares = [len(chosen & {*range(*unit)}) / (unit[1] - unit[0]) for unit in units]
            setattr(self, f"touched_{kind}", getattr(self, f"touched_{kind}") + sum(share > 0 for share in shares))
            setattr(self, f"split_{kind}", getattr(self, f"split_{kind}") + sum(0 < share < 1 for share in shares))


def exposure(objective: Callable[..., Example], texts: Iterable[Text], seed: int = 0) -> Exposure:
    """Mask each text once and count the words of several tokens and the entities of several words that are split."""
    counts, rng, vocab = Exposure(), Random(seed), world_wordpieces().vocab
    for text in texts:
        counts.count(text, selected(objective(text, vocab=vocab, rng=rng)), several_tokens(text), several_words(text))
    return counts


def several_tokens(text: Text) -> Spans:
    """The words of a text that have several tokens."""
    return tuple((start, end) for start, end in text.words if end - start > 1)


def several_words(text: Text) -> Spans:
    """The entities of a text that have several words."""
    starts = {start for start, _ in text.words}
    return tuple((start, end) for start, end in text.entities if len(starts & {*range(start, end)}) > 1)
