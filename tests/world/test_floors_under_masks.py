"""UniLM's floors: what each of the four masks leaves to be known, against every sentence written out."""

import math
from functools import partial
from random import Random

import pytest
from world_brute import Language, by_hand, language, random_automaton

from plmlab.draws import randint, shuffled
from plmlab.objectives import always_mask
from plmlab.objectives.prefix import MASKS, both_directions, left_to_right, prefix, right_to_left
from plmlab.world.probability.example_floor import questions, shown_tokens
from plmlab.world.probability.readers import FIRST, PositionVocabulary, length_known, positions_known

masks = pytest.mark.parametrize("make", MASKS.values(), ids=MASKS)


def nats(automaton, words, make, hidden: list[int], cut: int, reader) -> float:
    """What a reader pays for the hidden words, each behind a [MASK], under a mask; ``cut`` words are the source."""
    vocab = PositionVocabulary.of(len(words))
    ids = range(FIRST, FIRST + len(words))
    if make is prefix:
        make = partial(prefix, cut=cut / len(words))
        positions = [1 + word + (word >= cut) for word in hidden]
    else:
        positions = [1 + word for word in hidden]
    example = make(ids, vocab=vocab, rng=Random(0), select=positions, corrupt=always_mask)
    return reader(automaton, words, questions(example, vocab), vocab)


def belief(sentences: Language, words, make, hidden: list[int], position: int, cut: int, told: bool) -> dict[str,
                                                                                                             float]:
    """What stands in the position: among the sentences with the words that are in sight; as long as this one where the
    end is in sight, or the reader is told; else with the positions that are in sight, and the one behind a source."""
    length = len(words)
    sight = {left_to_right: range(position), right_to_left: range(position + 1, length), both_directions: range(length),
             prefix: range(position) if position >= cut else range(cut)}[make]
    seen = {i: words[i] for i in sight if i not in hidden}
    if told or make in (right_to_left, both_directions):
        return by_hand({other: p for other, p in sentences.items() if len(other) == length}, seen, position, length)
    return by_hand(sentences, seen, position, cut + 1 if make is prefix and position < cut else position + 1)


def drawn(length: int, rng: Random) -> tuple[list[int], int]:
    """Some positions to hide, and a cut that leaves a word to the target."""
    return sorted(shuffled(rng, range(length))[:1 + randint(rng, length)]), randint(rng, length)


@masks
def test_what_is_paid_is_what_the_sentences_that_fit_leave_open(make):
    differ = 0
    for seed in range(8):
        automaton, rng = random_automaton(seed), Random(seed)
        sentences = language(automaton)
        for words in sorted(sentences)[:25]:
            hidden, cut = drawn(len(words), rng)
            told, open_ended = (-sum(math.log(belief(sentences, words, make, hidden, position, cut,
                                                     which)[words[position]])
                                     for position in hidden) for which in (True, False))
            assert nats(automaton, words, make, hidden, cut, length_known) == pytest.approx(told, abs=1e-9)
            assert nats(automaton, words, make, hidden, cut, positions_known) == pytest.approx(open_ended, abs=1e-9)
            differ += abs(told - open_ended) > 1e-3
    assert (differ > 10) == (make in (left_to_right, prefix))


@masks
def test_nobody_pays_less_than_who_is_told_the_length(make):
    """In the mean over all sentences, where what is hidden hangs on nothing but how many words there are."""
    less = 0
    for seed in range(8):
        automaton = random_automaton(seed)
        paid = {length_known: 0.0, positions_known: 0.0}
        for words, p in language(automaton).items():
            hidden, cut = drawn(len(words), Random(f"{seed}:{len(words)}"))
            for reader in paid:
                paid[reader] += p * nats(automaton, words, make, hidden, cut, reader)
        assert paid[length_known] <= paid[positions_known] + 1e-9
        less += paid[length_known] < paid[positions_known] - 1e-3
    assert (less > 3) == (make in (left_to_right, prefix))


@pytest.mark.parametrize(("cut", "places"), [
    (0.0, [-1, 0, 0, 1, 2, 3, 4]), (0.5, [-1, 0, 1, 2, 2, 3, 4]), (1.0, [-1, 0, 1, 2, 3, 3, 4]),
])
def test_the_end_of_a_source_is_passed_over(cut: float, places: list[int]):
    """Four words and three special tokens: a source's [SEP] has the place of the word that follows, hidden or not."""
    vocab = PositionVocabulary.of(4)
    for rate in (0.15, 1.0):
        example = prefix(range(FIRST, FIRST + 4), vocab=vocab, rng=Random(0), cut=cut, rate=rate)
        assert [seen.place for seen in shown_tokens(example, vocab)] == places


def test_the_floors_of_the_small_world(small):
    """Who reads to both sides pays least; who sees the end, nothing for a length that it is not told."""
    told, seen = ({make: small.floor(make, reader=reader, sentences=50, rng=Random(1)) for make in MASKS.values()}
                  for reader in (length_known, positions_known))
    for make in (both_directions, right_to_left):
        assert told[make] == seen[make]
    for make in (left_to_right, prefix):
        assert told[make].mean < seen[make].mean
    assert min(seen, key=lambda make: seen[make].mean) is both_directions
