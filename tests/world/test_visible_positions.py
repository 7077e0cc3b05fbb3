"""Readers who are not told the sentence's length, against every sentence written out."""

import math
from dataclasses import replace
from functools import partial
from itertools import islice, permutations, product
from random import Random

import pytest
import torch
from orders import end_asked, end_asked_left_to_right, end_out_of_sight, in_an_order, ordered
from world_brute import by_hand, chance, fitting, language, random_automaton

from plmlab.draws import shuffled
from plmlab.example import IGNORE, Example
from plmlab.objectives import always_mask, causal, masked
from plmlab.objectives.causal import segmented
from plmlab.objectives.sequences import sequence_to_sequence
from plmlab.visibility import Visibility
from plmlab.world.probability.automaton import END
from plmlab.world.probability.example_floor import example_floor, questions, shown_tokens
from plmlab.world.probability.floors import FloorError
from plmlab.world.probability.readers import DECOYS, PositionVocabulary, length_known, positions_known


def nats(automaton, words, make, reader=positions_known, seed: int = 0) -> float:
    """What an objective costs a reader on one sentence."""
    vocab = PositionVocabulary.of(len(words))
    asked = questions(make(range(39, 39 + len(words)), vocab=vocab, rng=Random(seed)), vocab)
    return reader(automaton, words, asked, vocab)


def test_the_steps_of_any_order_add_up_to_the_words_less_what_the_asked_positions_tell(small, grammar, sentences):
    """Σ −log p(word | seen, it is a word) = −log p(the text begins so) + Σ log p(the position is a word | seen)."""
    told = 0.0
    for seed, words in enumerate(islice(small.text("train", seed=7), 20)):
        begins = chance(sentences, dict(enumerate(words)), 0)
        hints, seen = 0.0, dict[int, str]()
        for position in shuffled(Random(seed), range(len(words))):
            hints += math.log(chance(sentences, seen, position + 1) / chance(sentences, seen, 0))
            seen[position] = words[position]
        assert nats(grammar, words, end_out_of_sight, seed=seed) == pytest.approx(-math.log(begins) + hints)
        told -= hints
    assert told > 1


def test_with_the_end_they_add_up_to_the_sentence_less_what_the_asked_positions_tell(small, grammar, sentences):
    """Asked for the end at last, a position may be the end each time: log p(the words before it are there | seen)."""
    for seed, words in enumerate(islice(small.text("train", seed=8), 20)):
        hints, seen = 0.0, dict[int, str]()
        for position in shuffled(Random(seed), range(len(words))):
            hints += math.log(chance(sentences, seen, position) / chance(sentences, seen, 0))
            seen[position] = words[position]
        assert nats(grammar, words, end_asked, seed=seed) == pytest.approx(-small.logprob(words) + hints)


@pytest.mark.parametrize("make", [causal, end_asked_left_to_right])
def test_from_left_to_right_they_add_up_to_the_sentence(small, grammar, make):
    """As GPT's floor, by no special case."""
    for words in islice(small.text("train", seed=4), 50):
        assert nats(grammar, words, make) == pytest.approx(-small.logprob(words), abs=1e-9)


def test_an_end_costs_what_it_is_unforeseen():
    """Where a sentence begins another; in the small world none does."""
    def only_the_end(tokens, *, vocab, rng):
        made = causal(tokens, vocab=vocab, rng=rng)
        return replace(made, targets=made.targets.where(made.targets == vocab.end, IGNORE))
    paid = 0.0
    for automaton in map(random_automaton, range(10)):
        for words, p in language(automaton).items():
            cost = nats(automaton, words, only_the_end)
            assert cost == pytest.approx(math.log(chance(language(automaton), dict(enumerate(words)), 0) / p), abs=1e-9)
            assert nats(automaton, words, causal) == pytest.approx(-math.log(p))
            paid += cost
    assert paid > 10


def test_a_segment_without_memory_knows_where_it_stands(small, grammar, sentences):
    """Each position knows the words of its segment, and that the sentence comes that far."""
    for words in islice(small.text("train", seed=5), 10):
        expected = 0.0
        for position in range(len(words) + 1):
            # position t of the Example reads word t − 1, position 0 [START]
            seen = {read - 1: words[read - 1] for read in range(position // 3 * 3, position + 1) if read}
            expected -= math.log(by_hand(sentences, seen, position, position)[(*words, END)[position]])
        assert nats(grammar, words, partial(segmented, segment=3.0, memory=0.0)) == pytest.approx(expected)


@pytest.mark.parametrize("rate", [0.15, 0.6, 1.0])
def test_who_sees_the_end_is_told_the_length(small, grammar, rate: float):
    """BERT, at a rate of 1 without a word in sight; decoys stand for no word."""
    for seed, words in enumerate(islice(small.text("train", seed=3), 15)):
        make = partial(masked, rate=rate)
        assert nats(grammar, words, make, seed=seed) == nats(grammar, words, make, length_known, seed)
    for make in (in_an_order, partial(masked, rate=rate)):
        ours, told = (small.floor(make, reader=reader, sentences=15) for reader in (positions_known, length_known))
        assert ours == told


def test_an_end_out_of_sight_costs(small):
    """The same draws; the Examples differ in who sees [SEP], which only positions_known looks at."""
    told, hidden, unnamed = (small.floor(end_out_of_sight, reader=reader, sentences=80)
                             for reader in (length_known, positions_known, None))
    assert told == unnamed == small.floor(in_an_order, reader=positions_known, sentences=80)
    assert hidden.mean > told.mean + 0.02


def with_masks(tokens, *, vocab, rng, end: bool, shown: str = "mask") -> Example:
    """MPNet's: the words in an order, of which the last half is predicted, each from those before it and, at its own
    place and at those of the others, [MASK]: what is predicted has two positions at one place."""
    order = shuffled(rng, range(len(tokens)))
    asked = order[len(order) // 2:]
    texts = [vocab.cls, *tokens, *([vocab.sep] if end else [])]
    stand_in = vocab.mask if shown == "mask" else vocab.words[0]
    read = torch.tensor([*texts, *[stand_in] * len(asked)])
    place = torch.tensor([*range(len(texts)), *(1 + position for position in asked)])
    targets = torch.full_like(read, IGNORE)
    content, query = (torch.zeros(len(read), len(read), dtype=torch.bool) for _ in range(2))
    content[:, [position for position in range(len(texts)) if position - 1 not in asked]] = True
    content[:, len(texts):] = True
    for step, position in enumerate(asked):
        targets[1 + position] = tokens[position]
        content[1 + position, [1 + other for other in asked[:step + 1]]] = True
        content[1 + position, len(texts):len(texts) + step + 1] = False
        query[1 + position] = content[1 + position]
        query[1 + position, [1 + position, len(texts) + step]] = torch.tensor([False, True])
    return Example(read, place[None], torch.zeros_like(read), by_pairs(content), targets,
                   query_stream_mask=by_pairs(query))


def by_pairs(sees: torch.Tensor) -> Visibility:
    """Who sees whom, set pair by pair."""
    edits = tuple((*pair, bool(sees[pair])) for pair in product(range(len(sees)), repeat=2))
    return replace(Visibility.full(len(sees)), edits=edits)


@pytest.mark.parametrize("shown", ["mask", "decoy"])
def test_who_sees_a_mask_in_every_position_lacks_the_end_alone(shown: str):
    """On automata whose sentences begin others; without [SEP] the sentence may go on."""
    make, lacked = partial(with_masks, shown=shown), 0
    for automaton in map(random_automaton, range(5)):
        sentences = language(automaton)
        for seed, words in enumerate(sorted(sentences)):
            told = nats(automaton, words, partial(make, end=True), length_known, seed)
            assert nats(automaton, words, partial(make, end=True), seed=seed) == told
            assert nats(automaton, words, partial(make, end=False), length_known, seed) == told
            order, expected = shuffled(Random(seed), range(len(words))), 0.0
            for step in range(len(order) // 2, len(order)):
                seen = {position: words[position] for position in order[:step]}
                expected -= math.log(by_hand(sentences, seen, order[step], len(words))[words[order[step]]])
            found = nats(automaton, words, partial(make, end=False), seed=seed)
            assert found == pytest.approx(expected, abs=1e-9)
            lacked += abs(found - told) > 0.1
    assert lacked > 10


def test_positions_may_begin_anywhere(small, grammar):
    def further(tokens, *, vocab, rng):
        made = end_out_of_sight(tokens, vocab=vocab, rng=rng)
        return replace(made, position_ids=made.position_ids + 7)
    words = next(small.text("train", seed=3))
    assert nats(grammar, words, further) == nats(grammar, words, end_out_of_sight)


def test_places_are_counted_from_the_first_word():
    vocab = PositionVocabulary.of(3)
    made = masked([39, 40, 41], vocab=vocab, rng=Random(0), select=[2], corrupt=always_mask)
    assert [tuple(seen) for seen in shown_tokens(made, vocab)] == [(2, -1), (39, 0), (4, 1), (41, 2), (3, 3)]
    assert [seen.place for seen in shown_tokens(masked([39, 40, 41], vocab=vocab, rng=Random(0), select=[1, 2, 3],
                                                       corrupt=always_mask), vocab)] == [-1, 0, 1, 2, 3]


@pytest.mark.parametrize("shown", [
    [2, 39, 4, 42, 3], [2, 39, 40, 41, 42, 4], [2, 39, 40, 4, 3], [2, 39, 7, 41, 42, 3], [2, 40, 39, 41, 42, 3], [2, 4],
], ids=["a mask for two", "a mask for the end", "the end too early", "a sentinel", "not in order", "no word, no end"])
def test_positions_that_do_not_count_words_tell_no_place(small, grammar, shown: list[int]):
    def make(tokens, *, vocab, rng):
        read = torch.tensor(shown)
        return Example(read, torch.arange(len(read))[None], torch.zeros_like(read), Visibility.full(len(read)),
                       torch.tensor([*[IGNORE] * (len(read) - 1), 39]))
    words = next(words for words in small.text("train") if len(words) == 4)
    vocab = PositionVocabulary.of(4)
    assert vocab.length == 4 and vocab.size == 43 + DECOYS
    assert {seen.place for seen in shown_tokens(make(None, vocab=vocab, rng=None), vocab)} == {None}
    nats(grammar, words, make, length_known)
    with pytest.raises(FloorError, match="use length_known"):
        nats(grammar, words, make)


def test_each_text_of_a_pair_counts_its_own_places(small, grammar):
    """The source counts from its first word, the decoder from [START]; the source shows the end."""
    def hinted(tokens, *, vocab, rng):
        return sequence_to_sequence([vocab.mask, *list(tokens)[1:]], list(tokens), vocab=vocab)
    for words in islice(small.text("train", seed=2), 10):
        assert nats(grammar, words, hinted) == pytest.approx(nats(grammar, words, hinted, length_known))


def test_who_counts_pays_less_than_who_does_not_and_not_less_than_who_is_told():
    """Over all sentences and all orders. Of n words, t come first in an order at t places with (n − t)! / n!."""
    differ = 0
    for seed in range(12):
        automaton = random_automaton(seed, states=5)
        sentences = language(automaton)
        if max(map(len, sentences)) > 4:
            continue
        told = not_counting = counting = 0.0
        for words, p in sentences.items():
            vocab, orders = PositionVocabulary.of(len(words)), list(permutations(range(len(words))))
            for order in orders:
                example = ordered([*range(39, 39 + len(words)), vocab.sep], [*order, len(words)], order)
                asked, weight = questions(example, vocab), p / len(orders)
                told += weight * length_known(automaton, words, asked, vocab)
                not_counting += weight * positions_known(automaton, words, asked, vocab)
                for step, position in enumerate(order):
                    fits = {(other, position): q * math.factorial(len(other) - step - 1) / math.factorial(len(other))
                            for other,
                            q in fitting(sentences, {i: words[i] for i in order[:step]}, position + 1).items()}
                    right = sum(q for (other, _), q in fits.items() if other[position] == words[position])
                    counting -= weight * math.log(right / sum(fits.values()))
        assert told <= counting + 1e-12 and counting <= not_counting + 1e-12
        differ += told + 1e-3 < counting < not_counting - 1e-3
    assert differ > 2


def test_the_causal_floor_is_exact_for_both(small, grammar):
    drawn = list(islice(small.text("train", seed=6), 100))
    ours, told = (example_floor(grammar, drawn, causal, Random(6), reader)
                  for reader in (positions_known, length_known))
    assert ours.mean == pytest.approx(told.mean, abs=1e-12)
    assert small.floor(causal, reader=positions_known) == small.floor(causal)
