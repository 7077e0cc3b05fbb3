"""The window of word2vec: who is seen by hand, how far positions look, and what the Mask Lab draws of it."""

from collections import Counter
from random import Random

import pytest
import torch
from standin import SENTENCES, words

from plmlab.labs import MaskLab
from plmlab.objectives import OBJECTIVES, window
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility

VOCAB = Vocabulary(1000)
TEXT = [101, 102, 103, 104, 105]
NAMES = ["the", "cat", "saw", "a", "dog"]


def reaches(visible: Visibility) -> list[int]:
    """How far each position looks: to the farthest position that it sees."""
    looks = visible.dense().tolist()
    return [max((abs(q - k) for k, look in enumerate(row) if look), default=0) for q, row in enumerate(looks)]


def test_the_mask_worked_by_hand() -> None:
    example = window(TEXT, vocab=VOCAB, rng=Random(0), reach=[1, 2, 0, 3, 9])
    assert example.visible.dense().int().tolist() == [
        [0, 1, 0, 0, 0],
        [1, 0, 1, 1, 0],
        [0, 0, 0, 0, 0],
        [1, 1, 1, 0, 1],
        [1, 1, 1, 1, 0],
    ]
    assert example.tokens.tolist() == example.targets.tolist() == TEXT, (
        "each position predicts its own word; nothing is added")
    assert example.position_ids.tolist() == [[0, 1, 2, 3, 4]] and not example.segments.any()


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_every_position_sees_all_within_its_reach_and_never_itself(size: int) -> None:
    for seed in range(30):
        visible = window(range(7, 27), vocab=VOCAB, rng=Random(seed), window=float(size)).visible
        reach, looks = reaches(visible), visible.dense()
        assert min(reach) >= 1 and max(reach) <= size
        for q in range(20):
            for k in range(20):
                assert bool(looks[q, k]) == (0 < abs(q - k) <= reach[q])


def test_every_reach_is_as_likely() -> None:
    """Of 6,000 positions in the middle of texts a fifth has each reach, within four standard errors."""
    rng, counts, size = Random(4), Counter[int](), 5
    for _ in range(300):
        made = reaches(window(range(7, 37), vocab=VOCAB, rng=rng).visible)
        counts.update(made[size:-size])
    whole = sum(counts.values())
    assert sorted(counts) == [1, 2, 3, 4, 5] and whole == 6000
    for count in counts.values():
        assert count / whole == pytest.approx(1 / size, abs=4 * (0.2 * 0.8 / whole) ** 0.5)


def test_same_seed_same_window() -> None:
    def drawn(seed: int) -> list[int]:
        return reaches(window(range(7, 27), vocab=VOCAB, rng=Random(seed)).visible)
    assert drawn(3) == drawn(3) != drawn(4)


def test_same_window_on_every_machine() -> None:
    """Python promises the stream of ``Random(42)``: each of its numbers, times 5, and 1."""
    rng = Random(42)
    told = [1 + int(rng.random() * 5) for _ in range(40)]
    looked = reaches(window(range(7, 47), vocab=VOCAB, rng=Random(42)).visible)
    assert looked == told == [4, 1, 2, 2, 4, 4, 5, 1, 3, 1, *told[10:]]


def test_a_reach_that_is_given_is_not_drawn() -> None:
    rng = Random(1)
    window(TEXT, vocab=VOCAB, rng=rng, reach=[1] * 5)
    assert rng.random() == Random(1).random()


def test_a_single_word_sees_nobody() -> None:
    example = window([300], vocab=VOCAB, rng=Random(0))
    assert example.targets.tolist() == [300] and example.visible.dense().tolist() == [[False]]


@pytest.mark.parametrize(("tokens", "choices", "told"), [
    ([], {}, "the text is empty"),
    (TEXT, {"window": 0.5}, r"window=0\.5: a window without neighbours; give 1 or more"),
    (TEXT, {"window": -3.0}, "window=-3: a window without neighbours"),
    (TEXT, {"reach": [1, 2]}, r"reach=\[1, 2\]: give one integer"),
    (TEXT, {"reach": [1, 2, -1, 1, 1]}, "at least 0 for each of the 5 words"),
])
def test_what_is_no_window_is_refused(tokens: list[int], choices: dict, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        window(tokens, vocab=VOCAB, rng=Random(0), **choices)


def test_it_says_why() -> None:
    visible = window(TEXT, vocab=VOCAB, rng=Random(0), reach=[1, 2, 1, 3, 1]).visible
    for query, key, told in (
            (1, 3, "cat can attend to a: a is 2 after cat, within its window."),
            (3, 0, "a can attend to the: the is 3 before a, within its window."),
            (0, 2, "the cannot attend to saw: saw is 2 after the, outside its window."),
            (4, 1, "dog cannot attend to cat: cat is 3 before dog, outside its window."),
            (2, 2, "saw cannot attend to saw: saw is the target word itself.")):
        assert visible.reason(query, key, NAMES) == told
    assert visible.edited(2, 2, True).dense()[2, 2], "a reader may open what the rules close"


def test_it_is_in_the_register() -> None:
    found = OBJECTIVES["window"]
    assert found.make is window and [choice.name for choice in found.choices] == ["window"]


def test_the_mask_lab_draws_it() -> None:
    tokenizer = words()
    lab = MaskLab(tokenizer, SENTENCES[12], "window", seed=3, choices={"window": 2})
    made = window(tokenizer.encode(SENTENCES[12]), vocab=tokenizer.vocab, rng=Random(3), window=2.0)
    assert torch.equal(lab.example.visible.dense(), made.visible.dense())
    assert lab.state["masks"][0]["rule_ids"] == made.visible.rule_ids().flatten().tolist()
    assert lab.state["tokens"] == lab.state["targets"] == SENTENCES[12].split()
    assert set(lab.state["marks"]) == {"word"}, "no position sees the word that it must say: none is left in its sight"
    assert [choice["value"] for choice in lab.state["choices"]] == [2] and lab.message == ""
    wide = MaskLab(tokenizer, SENTENCES[12], "window", seed=3, choices={"window": 9})
    assert max(reaches(made.visible)) == 2 < max(reaches(wide.example.visible))
    lab.edits = [[0, 0, 0, True]]
    assert lab.example.visible.dense()[0, 0]


def test_the_mask_lab_draws_a_single_word_and_says_what_is_no_window() -> None:
    lab = MaskLab(words(), "cat", "window")
    assert lab.state["tokens"] == ["cat"] and not lab.example.visible.dense().any()
    lab.choices = {"window": 0}
    assert "window=0: a window without neighbours" in lab.message and lab.stale
