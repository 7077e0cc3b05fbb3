"""The proportions of words and positions that predictions are conditioned on, compared with their closed form."""

import pytest

from plmlab.chapters.ch11.conditioning import conditioned_on


@pytest.mark.parametrize(("words", "targets"), [(8, 1), (18, 3), (398, 60)])
def test_the_proportions_equal_their_closed_form(words: int, targets: int) -> None:
    """The context, and on average (targets − 1) / 2 words predicted earlier; all positions if there are masks."""
    time = words + 2
    context, earlier = (time - targets) / time, (targets - 1) / 2 / time
    found = conditioned_on(words, targets)
    assert found["masked LM (BERT)"] == pytest.approx([context, 1])
    assert found["permutation LM (XLNet)"] == pytest.approx([context + earlier, context + earlier])
    assert found["masked and permuted LM (MPNet)"] == pytest.approx([context + earlier, 1])
