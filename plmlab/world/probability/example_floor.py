"""The floor (entropy lower bound) of any objective, computed from the information available at each target of its
Examples."""

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
    """The floor of the objective ``make(tokens, vocab=, rng=)``: each term is exact; sentences and the objective's
    draws are sampled.

    Information reaches a position along the attention mask, over any number of layers. All visible words are assumed to
    be original. BERT leaves one selected word in ten unchanged without marking it; it counts here as visible, with a
    loss of 0. ``reader`` determines what is known about the sentence length. With ``length_known`` the value is a lower
    bound for every model, attained where [SEP] is visible and every target position shows [MASK]. With
    ``positions_known`` it is the Bayes-optimal loss given only the tokens of the Example and their positions. ``named``
    gives the entity mentions of a sentence, for objectives that need them.

    Raises:
        FloorError: if the objective predicts no token, or the reader cannot derive positions from its Examples.
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
    """The targets of an Example, each with the tokens that can be known at its position."""
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
    """The tokens of an Example with their places in the sentence; several may share one place, as in MPNet.

    The place of the first word is 0, inferred from any word, or from the end of the text if there is no word. The
    position ids count the words of the sentence if every word is then at its own place, [MASK] and decoys at the place
    of a word, and other special tokens before or after all of these. Otherwise no token has a place.

    A [SEP] followed by words is skipped in counting and gets the place of the next word, because it only reveals that a
    word follows.
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
    """The positions from which information can reach each position (row by row) over any number of layers: the
    reflexive, transitive closure of the mask."""
    reach = sees | torch.eye(len(sees), dtype=torch.bool)
    while not torch.equal(further := _passed_on(reach, reach), reach):
        reach = further
    return reach


def _both(example: PairExample) -> Bool[Tensor, "query key"]:
    """Attention mask over the positions of the encoder followed by those of the decoder."""
    encoder, decoder = len(example.source.tokens), len(example.target.tokens)
    sees = torch.zeros(encoder + decoder, encoder + decoder, dtype=torch.bool)
    sees[:encoder, :encoder] = example.source.visible.dense()
    sees[encoder:, :encoder] = example.cross.dense()
    sees[encoder:, encoder:] = example.target.visible.dense()
    return sees


def _passed_on(sees: Bool[Tensor, "query key"], reach: Bool[Tensor, "key other"]) -> Bool[Tensor, "query other"]:
    """The positions reachable by one step of ``sees`` followed by ``reach``."""
    return (sees.float() @ reach.float()) > 0
