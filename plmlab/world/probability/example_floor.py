"""The floor of any objective, read off its Examples: what can a target position know of the sentence, and what is
asked?"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random

import torch
from jaxtyping import Bool
from torch import Tensor

from plmlab.example import IGNORE, Example, PairExample
from plmlab.text import Text
from plmlab.world.probability.automaton import Automaton
from plmlab.world.probability.floors import Floor, MakesExamples, Reader, mean_of
from plmlab.world.probability.readers import FIRST, PositionVocabulary, Question, Seen, length_known


def example_floor(automaton: Automaton, sentences: Iterable[Sequence[str]], make: MakesExamples, rng: Random,
                  reader: Reader = length_known,
                  named: Callable[[Sequence[str]], Iterable[tuple[int, int]]] | None = None) -> Floor:
    """The floor of the objective ``make(tokens, vocab=, rng=)``: each term exact, sentences and draws sampled.

    A position knows what it may look at, and what those positions may look at, and so on. The reader is told which
    words in sight are true; BERT leaves one asked word in ten in sight without saying so: counted here as seen, at 0
    nats. What it knows of the sentence's length, the ``reader`` says. With ``length_known`` the figure is a floor for
    all: nobody can know more. With [SEP] in sight, and [MASK] in every position that is asked for, it is reached. With
    ``positions_known`` it is what the best reader pays that takes nothing from an Example but what stands there.
    ``named`` tells where a sentence mentions an entity, to an objective that asks.

    Raises:
        FloorError: the objective asks for no token, or the reader finds no places in its Examples.
    """
    sums = []
    for words in sentences:
        vocab, size = PositionVocabulary.of(len(words)), len(words)
        text = Text(range(FIRST, FIRST + size), words=((place, place + 1) for place in range(size)),
                    sentences=[(0, size)][:size], entities=partial(named, words) if named else None)
        asked = questions(make(text, vocab=vocab, rng=rng), vocab)
        sums.append((reader(automaton, words, asked, vocab), len(asked)))
    return mean_of(sums)


def questions(example: Example | PairExample, vocab: PositionVocabulary) -> list[Question]:
    """What an Example asks: for every position with a target, the target and the tokens that the position can know
    of."""
    if isinstance(example, PairExample):
        shown = [*shown_tokens(example.source, vocab), *shown_tokens(example.target, vocab)]
        reach = known_positions(_both(example))[len(example.source.tokens):]
        targets = example.target.targets.tolist()
    else:
        shown, targets = shown_tokens(example, vocab), example.targets.tolist()
        reach = known_positions(example.visible.dense())
        if example.query_stream_mask is not None:
            reach = _passed_on(example.query_stream_mask.dense(), reach)
    return [Question(frozenset(shown[key] for key in row.nonzero().flatten().tolist()), target)
            for row, target in zip(reach, targets, strict=True) if target != IGNORE]


def shown_tokens(example: Example, vocab: PositionVocabulary) -> list[Seen]:
    """The tokens of an Example with their places in the sentence; several may have one place, as MPNet's.

    The place of the first word, 0, follows from any word, or from where the text ends if there is none. Positions
    count the words of the sentence where every word then stands at its own place, [MASK] and decoys at the place of a
    word, and other special tokens before all of these or behind. If not, no token has a place.

    A [SEP] with words behind it is passed over in counting, and has the place of the next one: that a word follows is
    all that it tells.
    """
    outside = vocab.special - {vocab.mask}
    read = list(zip(example.tokens.tolist(), example.position_ids[0].tolist(), strict=True))
    last = max((position for token, position in read if token not in outside), default=0)
    between = {position for token, position in read if token == vocab.sep and position < last}
    at = [(token, position - sum(other < position for other in between)) for token, position in read]
    counted = [pair for pair, (_, position) in zip(at, read, strict=True) if position not in between]
    firsts = {position - offset for token, position in counted if (offset := vocab.position(token)) is not None} or \
             {position - vocab.length for token, position in counted if token in vocab.ends}
    if len(firsts) != 1:
        return [Seen(token, None) for token, _ in at]
    [first] = firsts
    counts = all((token in outside) != (0 <= position - first < vocab.length) for token, position in counted)
    return [Seen(token, position - first if counts else None) for token, position in at]


def known_positions(sees: Bool[Tensor, "query key"]) -> Bool[Tensor, "query key"]:
    """Row by row, the positions that a position can know of over any number of layers: the reflexive, transitive
    closure."""
    reach = sees | torch.eye(len(sees), dtype=torch.bool)
    while not torch.equal(further := _passed_on(reach, reach), reach):
        reach = further
    return reach


def _both(example: PairExample) -> Bool[Tensor, "query key"]:
    """Who sees whom among the encoder's positions and the decoder's behind them."""
    encoder, decoder = len(example.source.tokens), len(example.target.tokens)
    sees = torch.zeros(encoder + decoder, encoder + decoder, dtype=torch.bool)
    sees[:encoder, :encoder] = example.source.visible.dense()
    sees[encoder:, :encoder] = example.cross.dense()
    sees[encoder:, encoder:] = example.target.visible.dense()
    return sees


def _passed_on(sees: Bool[Tensor, "query key"], reach: Bool[Tensor, "key other"]) -> Bool[Tensor, "query other"]:
    """Whom one knows of through those one sees."""
    return (sees.float() @ reach.float()) > 0
