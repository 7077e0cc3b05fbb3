"""Bayes-optimal losses of an Example under two assumptions: the sentence length is known, or only what is visible is
known."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, log
from typing import NamedTuple

from plmlab.text.vocabulary import SENTINELS, SPECIALS, Vocabulary
from plmlab.world.probability.automaton import END, Automaton
from plmlab.world.probability.floors import FloorError, surprises
from plmlab.world.probability.posterior import posterior_open

FIRST = len(SPECIALS) + len(SENTINELS)
DECOYS = 64


class PositionVocabulary(Vocabulary):
    """Vocabulary with one id per position of the sentence, so that an Example reveals which words are visible and which
    are targets.

    Words that an objective may substitute are decoys, which do not occur in the sentence.
    """

    @classmethod
    def of(cls, length: int) -> "PositionVocabulary":
        """The vocabulary for a sentence of ``length`` words."""
        return cls(FIRST + length + DECOYS)

    @property
    def length(self) -> int:
        """The number of words of the sentence."""
        return self.size - DECOYS - FIRST

    @cached_property
    def words(self) -> tuple[int, ...]:
        """The ids that an objective may substitute for a word, which are the decoys."""
        return tuple(range(self.size - DECOYS, self.size))

    @property
    def ends(self) -> frozenset[int]:
        """The ids that mark the end of the sentence: [END] and [SEP]."""
        return frozenset({self.need("end"), self.need("sep")})

    def position(self, token: int) -> int | None:
        """The sentence position that this id denotes; None for a special token or a decoy."""
        return token - FIRST if FIRST <= token < self.size - DECOYS else None


class Seen(NamedTuple):
    """A known token and its place in the sentence, where the first word has place 0.

    ``place`` is None if the Example's position ids do not count the words of the sentence.
    """

    token: int
    place: int | None


@dataclass(frozen=True)
class Question:
    """One target of an Example, with all tokens that can be known at its position."""

    known: frozenset[Seen]
    target: int

    @property
    def tokens(self) -> frozenset[int]:
        """The known tokens, without their places."""
        return frozenset(seen.token for seen in self.known)


def length_known(automaton: Automaton, words: Sequence[str], asked: Sequence[Question],
                 vocab: PositionVocabulary) -> float:
    """−Σ log p(target | what is known at its position, and the sentence length), in nats: a lower bound for every
    model.

    If the end is a target and only the words before a position are known there, the length stays unknown; the terms of
    a sentence then add up to −log p(sentence). Everywhere else the end, and any other special token, has a loss of
    0.

    This is the optimal loss for GPT, and for BERT and MPNet, which see [SEP]. XLNet may not see [SEP] but can still
    infer the length: from the number of visible words if one word in six is predicted, or from the positions that come
    first in the factorization order if all words are. So this is the floor for every model. ``positions_known`` is the
    loss without such inference.
    """
    begins, length = {vocab.need("start"), vocab.need("cls")}, len(words)
    asks_end = any(question.target in vocab.ends for question in asked)
    terms: list[float] = []
    with_length: dict[frozenset[int], list[int]] = defaultdict(list)
    for question in asked:
        seen = _words_seen(question, vocab)
        target = _position_asked(question, vocab)
        if target is None or target in seen:
            continue
        only_before = seen == frozenset(range(target)) and question.tokens <= begins | {FIRST + position
                                                                                        for position in seen}
        if asks_end and only_before:
            terms.append(-log(automaton.next_words(words[:target])[(*words, END)[target]]))
        elif target < length:
            with_length[seen].append(target)
    return fsum(terms + [surprises(automaton, words, seen, positions) for seen, positions in with_length.items()])


def positions_known(automaton: Automaton, words: Sequence[str], asked: Sequence[Question],
                    vocab: PositionVocabulary) -> float:
    """−Σ log p(target | the words and places known at its position), in nats, with no information about the length.

    A visible word or [MASK] shows that the sentence has this position, and nothing about what follows; [SEP], [CLS] or
    [END] after the last word shows where the sentence ends. A target is a word, or, if the Example also predicts the
    end, a word or the end. Any other special token has a loss of 0.

    For GPT the value is −log p(sentence), including its end. For BERT, which sees [SEP], it equals the loss with known
    length; likewise for MPNet where it sees [SEP], because every predicted position shows a [MASK], so only the end can
    be unknown. For XLNet's query stream it is higher while neither [SEP] nor [CLS] precedes the target in the order.

    Only the existence of positions is used, not how many of them are visible. A model that weighs how likely a sentence
    of each length is to show this many words at these places can reach a lower loss: no model is below
    ``length_known``, but a model may be below this value. A model with relative positions instead of absolute ones,
    such as XLNet, knows less about its position than is assumed here.

    Raises:
        FloorError: if the Example's position ids do not count the words of the sentence, as where one [MASK] hides
            several.
    """
    hidden = 0 if any(question.target in vocab.ends for question in asked) else 1
    with_length: dict[frozenset[int], list[int]] = defaultdict(list)
    open_ended: dict[tuple[frozenset[int], int], list[int]] = defaultdict(list)
    for question in asked:
        places = [place for _, place in question.known if place is not None]
        if len(places) < len(question.known):
            raise FloorError("the positions of these Examples do not count the words of the sentence one by one, so "
                             "the places of the tokens are unknown; use length_known")
        seen, target = _words_seen(question, vocab), _position_asked(question, vocab)
        if target is None or target in seen:
            continue
        if max(places, default=-1) < len(words):
            at_least = max([target + hidden, *(place + 1 for place in places)])
            open_ended[seen, at_least].append(target)
        elif target < len(words):
            with_length[seen].append(target)
    nats = [surprises(automaton, words, seen, positions) for seen, positions in with_length.items()]
    for (seen, at_least), positions in open_ended.items():
        beliefs = posterior_open(automaton, {position: words[position] for position in seen}, positions, at_least)
        found = dict(zip(sorted(set(positions)), beliefs, strict=True))
        nats += [-log(found[position][(*words, END)[position]]) for position in positions]
    return fsum(nats)


def _words_seen(question: Question, vocab: PositionVocabulary) -> frozenset[int]:
    """The sentence positions whose words are known."""
    return frozenset(position for token in question.tokens if (position := vocab.position(token)) is not None)


def _position_asked(question: Question, vocab: PositionVocabulary) -> int | None:
    """The sentence position of the target, or the position after the last word if it is the end; None for any other
    special token."""
    return vocab.length if question.target in vocab.ends else vocab.position(question.target)
