"""Masking on texts of the Small World: a WordPiece tokenizer that knows the world's entities, examples as text, and
counts of the words and entities that masking leaves partly visible."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache, reduce
from itertools import islice
from operator import add
from random import Random

from plmlab import world
from plmlab.example import IGNORE, Example
from plmlab.text import Text, Tokenizer
from plmlab.text.gazetteer import Gazetteer
from plmlab.text.text import Spans


@cache
def world_wordpieces() -> Gazetteer:
    """A WordPiece tokenizer with 1,000 tokens, trained on 5,000 sentences of the Small World; the entities of its texts
    are the names of persons, towns, cafés, films and so on."""
    full = world.full()
    lines = [" ".join(sentence.words) for sentence in islice(full.sentences("train", seed=0), 5000)]
    names = {entity.name: entity.kind for entity in full.facts.entities.values() if entity.named}
    return Gazetteer(names, Tokenizer.wordpiece(lines, 1000, lowercase=False))


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


def exposure(objective: Callable[..., Example], texts: Iterable[Text], seed: int = 0) -> Counter[str]:
    """Mask each text once. Counts: ``tokens``; ``selected`` tokens; ``touched`` words of several tokens and entities of
    several words, with at least one selected token; and those of them that are ``split``: another token is not
    selected."""
    counts, rng, vocab = Counter[str](), Random(seed), world_wordpieces().vocab
    for text in texts:
        chosen = selected(objective(text, vocab=vocab, rng=rng))
        counts.update({"tokens": len(text), "selected": len(chosen)})
        for kind, units in (("words", several_tokens(text)), ("entities", several_words(text))):
            shares = [len(chosen & {*range(*unit)}) / (unit[1] - unit[0]) for unit in units]
            counts[f"touched {kind}"] += sum(share > 0 for share in shares)
            counts[f"split {kind}"] += sum(0 < share < 1 for share in shares)
    return counts


def several_tokens(text: Text) -> Spans:
    """The words of a text that have several tokens."""
    return tuple((start, end) for start, end in text.words if end - start > 1)


def several_words(text: Text) -> Spans:
    """The entities of a text that have several words."""
    starts = {start for start, _ in text.words}
    return tuple((start, end) for start, end in text.entities if len(starts & {*range(start, end)}) > 1)
