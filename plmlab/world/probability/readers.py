"""What the best reader can know of a sentence when an Example asks: its length too, or what is in sight alone."""

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
    """Every word of the sentence has an id of its own, so that an Example tells which position it shows or asks for.

    The words that an objective may put in a position's place are decoys, which stand nowhere in the sentence.
    """

    @classmethod
    def of(cls, length: int) -> "PositionVocabulary":
        """The vocabulary for a sentence of ``length`` words."""
        return cls(FIRST + length + DECOYS)

    @property
    def length(self) -> int:
        """How many words the sentence has."""
        return self.size - DECOYS - FIRST

    @cached_property
    def words(self) -> tuple[int, ...]:
        """The ids that an objective may put in a position's place: the decoys."""
        return tuple(range(self.size - DECOYS, self.size))

    @property
    def ends(self) -> frozenset[int]:
        """The ids that stand for the end of the sentence: [END] and [SEP]."""
        return frozenset({self.need("end"), self.need("sep")})

    def position(self, token: int) -> int | None:
        """The position of the sentence that this id stands for; None for a special token or a decoy."""
        return token - FIRST if FIRST <= token < self.size - DECOYS else None


class Seen(NamedTuple):
    """A token that a position can know of, and its place: its position counted from the first word's, which is 0.

    None: the Example's positions do not count the words of the sentence.
    """

    token: int
    place: int | None


@dataclass(frozen=True)
class Question:
    """What one position of an Example must say, and all tokens that it can know of."""

    known: frozenset[Seen]
    target: int

    @property
    def tokens(self) -> frozenset[int]:
        """The tokens that the position can know of, without their places."""
        return frozenset(seen.token for seen in self.known)


def length_known(automaton: Automaton, words: Sequence[str], asked: Sequence[Question],
                 vocab: PositionVocabulary) -> float:
    """−Σ log p(target | what its position knows, and the sentence's length), in nats: the best that anybody could do.

    Where the end is asked, and a position has seen nothing but the words before it, the length stays unknown: then the
    terms of a sentence add up to −log p(sentence). Everywhere else the end, and any other special token, costs
    nothing.

    It is what GPT pays, and BERT and MPNet, which see [SEP]. XLNet may not see it, and can yet guess the length: where
    one word in six is predicted, the number of words in sight goes with it; where all are, the places that come first
    in the order do. So this is the floor for everybody. What a reader pays who does not guess, ``positions_known``
    tells.
    """
    begins, length = {vocab.need("start"), vocab.need("cls")}, len(words)
    asks_end = any(question.target in vocab.ends for question in asked)
    terms: list[float] = []
    told: dict[frozenset[int], list[int]] = defaultdict(list)
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
            told[seen].append(target)
    return fsum(terms + [surprises(automaton, words, seen, positions) for seen, positions in told.items()])


def positions_known(automaton: Automaton, words: Sequence[str], asked: Sequence[Question],
                      vocab: PositionVocabulary) -> float:
    """−Σ log p(target | the words and the places that its position knows of), in nats: who is told nothing of the
    length.

    A word in sight, or a [MASK], tells that the sentence has that position, and nothing of what follows; [SEP], [CLS]
    or [END] behind the last word tells where the sentence ends. The position that is asked is a word; but where the
    Example asks for the end too, it is a word or the end. Any other special token costs nothing.

    GPT pays −log p(sentence), its end included. BERT, which sees [SEP], pays what it would if it were told the length,
    and so does MPNet where it sees [SEP]: with a [MASK] in every position that is predicted, nothing but the end can be
    unknown to it. XLNet's query pays more, as long as neither [SEP] nor [CLS] comes before it in the order.

    This reader does not count. From its places it takes that the sentence has them, and no more. Who weighs how likely
    a sentence of each length is to show so many words, at just these places, pays less: no model comes below
    ``length_known``, but one may come below this figure. A model that reads distances in place of positions, as XLNet
    does, knows less of where it is than this reader.

    Raises:
        FloorError: the Example's positions do not count the words of the sentence, as where one [MASK] hides several.
    """
    hidden = 0 if any(question.target in vocab.ends for question in asked) else 1
    told: dict[frozenset[int], list[int]] = defaultdict(list)
    open_ended: dict[tuple[frozenset[int], int], list[int]] = defaultdict(list)
    for question in asked:
        places = [place for _, place in question.known if place is not None]
        if len(places) < len(question.known):
            raise FloorError("the positions of these Examples do not count the words of the sentence one by one, and "
                             "tell no places; take the reader told_length")
        seen, target = _words_seen(question, vocab), _position_asked(question, vocab)
        if target is None or target in seen:
            continue
        if max(places, default=-1) < len(words):
            at_least = max([target + hidden, *(place + 1 for place in places)])
            open_ended[seen, at_least].append(target)
        elif target < len(words):
            told[seen].append(target)
    nats = [surprises(automaton, words, seen, positions) for seen, positions in told.items()]
    for (seen, at_least), positions in open_ended.items():
        beliefs = posterior_open(automaton, {position: words[position] for position in seen}, positions, at_least)
        found = dict(zip(sorted(set(positions)), beliefs, strict=True))
        nats += [-log(found[position][(*words, END)[position]]) for position in positions]
    return fsum(nats)


def _words_seen(question: Question, vocab: PositionVocabulary) -> frozenset[int]:
    """The positions of the sentence whose words are known."""
    return frozenset(position for token in question.tokens if (position := vocab.position(token)) is not None)


def _position_asked(question: Question, vocab: PositionVocabulary) -> int | None:
    """The position of the sentence whose word is asked, the one behind the last for its end; None for what is
    neither."""
    return vocab.length if question.target in vocab.ends else vocab.position(question.target)
