"""What REALM reads, against the rules of the authors' code (language/realm/featurization.py), written out anew."""

from random import Random

import pytest
import torch

from plmlab.example import IGNORE, Example
from plmlab.objectives.reader_inputs import mask_positions, pair_input, query_input, reader_input
from plmlab.objectives.registry import OBJECTIVES
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)
CLS, SEP, MASK = 2, 3, 4


def laid_out(parts: list[list[int]]) -> tuple[list[int], list[int]]:
    """Their rule: [CLS], then each part and a [SEP]; a part's number is the segment of its tokens and of its [SEP]."""
    tokens, segments = [CLS], [0]
    for number, part in enumerate(parts):
        tokens += [*part, SEP]
        segments += [number] * (len(part) + 1)
    return tokens, segments


def shown(example: Example) -> tuple[list[int], list[int]]:
    size = len(example.tokens)
    assert example.position_ids.tolist() == [list(range(size))]
    assert example.visible.dense().all()
    return example.tokens.tolist(), example.segments.tolist()


def told(example: Example) -> dict[int, int]:
    return {position: token for position, token in enumerate(example.targets.tolist()) if token != IGNORE}


@pytest.mark.parametrize("seed", range(25))
def test_each_layout_is_theirs(seed: int) -> None:
    rng = Random(seed)
    statement = [rng.randrange(40, 90) for _ in range(rng.randrange(1, 14))]
    title, body = ([rng.randrange(40, 90) for _ in range(rng.randrange(most))] for most in (4, 17))
    places = sorted(rng.sample(range(len(statement)), rng.randrange(len(statement) + 1)))
    masked = [MASK if place in places else token for place, token in enumerate(statement)]

    query = query_input(statement, places, VOCAB)
    assert shown(query) == laid_out([masked])
    assert told(query) == {}
    assert shown(pair_input(title, body, VOCAB)) == laid_out([title, body])
    joint = reader_input(statement, body, vocab=VOCAB, rng=rng, hidden=places)
    assert shown(joint) == laid_out([masked, body])  # without the title
    assert told(joint) == {place + 1: statement[place] for place in places}  # theirs add 1 for [CLS], too


def test_nothing_stands_in_the_null_document() -> None:
    assert shown(pair_input((), (), VOCAB)) == ([CLS, SEP, SEP], [0, 0, 1])
    joint = reader_input([50, 51], (), vocab=VOCAB, rng=Random(0), hidden=[1])
    assert shown(joint) == ([CLS, 50, MASK, SEP, SEP], [0, 0, 0, 0, 1])


def test_what_is_hidden_always_shows_a_mask() -> None:
    """BERT leaves one in ten as it is, and puts another word for one in ten."""
    for seed in range(200):
        example = reader_input(range(40, 50), [60], vocab=VOCAB, rng=Random(seed))
        positions = list(told(example))
        assert [int(example.tokens[position]) for position in positions] == [MASK] * len(positions)


def test_spans_that_are_drawn() -> None:
    found = []
    for seed in range(1000):
        positions = list(told(reader_input(range(40, 48), [60], vocab=VOCAB, rng=Random(seed), longest=3.0)))
        assert positions == list(range(positions[0], positions[0] + len(positions)))
        found.append((len(positions), positions[0]))
    for size in (1, 2, 3):
        starts = [start for length, start in found if length == size]
        assert abs(len(starts) / 1000 - 1 / 3) < 0.06
        assert {*starts} == {*range(1, 10 - size)}
    short = {len(told(reader_input([50, 51], [60], vocab=VOCAB, rng=Random(seed)))) for seed in range(40)}
    assert short == {1, 2}, "no span is longer than its statement"


def test_the_tokens_that_were_given_are_left_alone() -> None:
    statement = [50, 51, 52]
    examples = [reader_input(statement, [60], vocab=VOCAB, rng=Random(0), hidden=[place]) for place in range(3)]
    assert statement == [50, 51, 52]
    assert [told(one) for one in examples] == [{1: 50}, {2: 51}, {3: 52}]
    plain = pair_input(statement, [60], VOCAB)
    mask_positions(plain, [0], VOCAB)
    assert plain.tokens.tolist() == [CLS, 50, 51, 52, SEP, 60, SEP] and bool((plain.targets == IGNORE).all())


def test_the_mask_lab_may_draw_it() -> None:
    assert OBJECTIVES["reader_input"].texts == 2
    assert torch.equal(reader_input([50, 51], [60], vocab=VOCAB, rng=Random(4)).tokens,
                       reader_input([50, 51], [60], vocab=VOCAB, rng=Random(4)).tokens)


@pytest.mark.parametrize("hidden", [[3], [0, 5], [-1]])
def test_a_place_that_is_not_of_the_statement(hidden: list[int]) -> None:
    for make in (lambda: query_input([50, 51, 52], hidden, VOCAB),
                 lambda: reader_input([50, 51, 52], [60], vocab=VOCAB, rng=Random(0), hidden=hidden)):
        with pytest.raises(ValueError, match="the text has 3 tokens, counted from 0"):
            make()
