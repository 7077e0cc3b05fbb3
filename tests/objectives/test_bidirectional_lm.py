"""Two causal Examples of one text, against what a hand writes down."""

from random import Random

import torch

from plmlab import world
from plmlab.batches import ExampleBatches, bucketed
from plmlab.example import IGNORE, BidirectionalBatch
from plmlab.objectives import bidirectional_lm, causal
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)
START, END = VOCAB.need("start"), VOCAB.need("end")


def test_each_direction_reads_from_its_own_end_and_says_what_comes_next_there() -> None:
    made = bidirectional_lm([50, 51, 52], vocab=VOCAB, rng=Random(0))
    left, right = made.forwards, made.backwards
    assert left.tokens.tolist() == [START, 50, 51, 52] and left.targets.tolist() == [50, 51, 52, END]
    assert right.tokens.tolist() == [END, 52, 51, 50] and right.targets.tolist() == [52, 51, 50, START]
    assert left.position_ids.tolist() == [[0, 1, 2, 3]] and right.position_ids.tolist() == [[4, 3, 2, 1]]
    for half in (left, right):
        assert torch.equal(half.visible.dense(), torch.ones(4, 4, dtype=torch.bool).tril())
        for position, target in enumerate(half.targets.tolist()):
            assert target not in half.tokens[half.visible.dense()[position]].tolist()


def test_why_a_position_is_closed_is_said_in_the_order_of_reading() -> None:
    right = bidirectional_lm([50, 51, 52], vocab=VOCAB, rng=Random(0)).backwards
    assert "to the left of" in right.visible.sentence(int(right.visible.rule_ids()[1, 2]))


def test_an_empty_text_is_its_two_ends() -> None:
    made = bidirectional_lm([], vocab=VOCAB, rng=Random(0))
    assert made.forwards.targets.tolist() == [END] and made.backwards.targets.tolist() == [START]


def test_a_batch_pads_both_directions_and_counts_the_targets_of_both() -> None:
    batch = BidirectionalBatch.of([bidirectional_lm(text, vocab=VOCAB, rng=Random(0)) for text in ([50, 51, 52], [53])],
                                  pad=0)
    assert batch.size == (2, 4) and batch.targets.shape == (2, 8)
    assert batch.forwards.tokens[1].tolist() == [START, 53, 0, 0]
    assert batch.backwards.tokens[1].tolist() == [END, 53, 0, 0]
    assert (batch.targets != IGNORE).sum() == 12


def test_texts_of_like_length_come_together_and_none_is_lost() -> None:
    def draw(rng: Random) -> list:
        return [bidirectional_lm(list(range(50, 50 + int(1 + rng.random() * 6))), vocab=VOCAB, rng=rng)
                for _ in range(4)]

    source = ExampleBatches(draw, 0, 0)
    sorted_ = [bucketed(source, 2)(step) for step in range(2)]
    assert all(isinstance(batch, BidirectionalBatch) for batch in sorted_)
    drawn = sorted(len(made.tokens) for step in range(2) for made in source.examples(step))
    assert sorted(int((row != IGNORE).sum()) for batch in sorted_ for row in batch.forwards.targets) == drawn


def test_its_floor_is_that_of_reading_from_the_left() -> None:
    small = world.small()
    assert small.floor(bidirectional_lm, split="test") == small.floor(causal, split="test")
