"""PALM's objective: where a text is cut, what source and target consist of, and what is refused."""

import pytest
import torch

from plmlab.example import IGNORE
from plmlab.objectives import continuation
from plmlab.objectives.continuation import continued_pair
from plmlab.text import Text
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)
CLS, SEP, START, END = (VOCAB.need(name) for name in ("cls", "sep", "start", "end"))
WORDS = [*range(40, 60)]


def cut(sentences: list[tuple[int, int]], count: int = 20, **choices: float) -> int:
    """The number of source tokens."""
    example = continuation(Text(WORDS[:count], sentences=sentences), vocab=VOCAB, **choices)
    return len(example.source.tokens) - 2


def test_source_and_target_are_the_text() -> None:
    example = continuation(Text(WORDS, sentences=[(0, 9), (9, 16), (16, 20)]), vocab=VOCAB)
    assert example.source.tokens.tolist() == [CLS, *WORDS[:16], SEP]
    assert example.target.tokens.tolist() == [START, *WORDS[16:]]
    assert example.target.targets.tolist() == [*WORDS[16:], END] and example.source.targets.eq(IGNORE).all()
    assert example.source.visible.pattern == example.cross.pattern == "full"
    assert example.cross.shape == (5, 18)
    assert torch.equal(example.target.visible.dense(), torch.ones(5, 5).tril().bool())
    assert example.source.position_ids.tolist() == [[*range(18)]]
    assert example.target.position_ids.tolist() == [[*range(5)]]


@pytest.mark.parametrize(("sentences", "count", "expected"), [
    ([(0, 5), (5, 15), (15, 20)], 20, 15), ([(0, 5), (5, 17), (17, 20)], 20, 17), ([(0, 2), (2, 20)], 20, 2),
    ([(0, 19), (19, 20)], 20, 19),
    ([(0, 14), (14, 18), (18, 20)], 20, 14),  # 14 and 18 are equally near to 16
    ([(0, 6), (6, 13)], 20, 13),  # an incomplete sentence at the end
    ([(0, 20)], 20, 16), ([], 20, 16), ([(0, 1)], 1, 0), ([(0, 2)], 2, 1), ([(0, 3)], 3, 2), ([(0, 11)], 11, 9),
])
def test_the_nearest_sentence_boundary_or_without_one_80_percent(sentences: list[tuple[int, int]], count: int,
                                                                 expected: int) -> None:
    assert cut(sentences, count) == expected


def test_another_share_or_an_explicit_cut() -> None:
    thirds = [(0, 5), (5, 15), (15, 20)]
    assert [cut(thirds, share=share) for share in (0.05, 0.3, 0.6, 0.95)] == [5, 5, 15, 15]
    assert [cut([(0, 20)], share=share) for share in (0.01, 0.5, 0.99)] == [1, 10, 19]
    assert continuation(WORDS, vocab=VOCAB, cut=3).source.tokens.tolist() == [CLS, *WORDS[:3], SEP]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="the text is empty, so there is nothing to predict"):
        continuation(Text([], sentences=[]), vocab=VOCAB)
    with pytest.raises(ValueError, match=r"continuation \(PALM\) needs the sentences of a text"):
        continuation(WORDS, vocab=VOCAB)
    for share in (0.0, 1.0):
        with pytest.raises(ValueError, match="must be above 0 and below 1"):
            cut([(0, 20)], share=share)
    for place in (20, -1):
        with pytest.raises(ValueError, match=f"cut={place} in a text of 20 tokens: give 0 to 19"):
            continuation(WORDS, vocab=VOCAB, cut=place)


def test_a_pair_in_the_same_format() -> None:
    example = continued_pair([41, 42], [43], VOCAB)
    whole = continuation([41, 42, 43], vocab=VOCAB, cut=2)
    assert torch.equal(example.source.tokens, whole.source.tokens)
    assert torch.equal(example.target.targets, whole.target.targets)
