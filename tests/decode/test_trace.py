"""The steps of a beam search, against beam search itself and against a table worked by hand."""

import pytest
import torch

from plmlab.decode import TableLM, UncachedLM, beam_search
from plmlab.decode.trace import beam_search_trace
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(6, None, None, None, None, None, None, end=0, sentinels=())


def loud(seed: int) -> UncachedLM:
    """A model of six tokens whose logits hang on the last two."""
    weights = torch.randn(6, 6, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 2
    return UncachedLM(lambda texts: weights[texts[:, -1], texts[:, -2] if texts.shape[1] > 1 else texts[:, -1]])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("beam", [1, 2, 3, 5])
@pytest.mark.parametrize("alpha", [0.0, 0.7, 2.0])
def test_the_last_step_holds_what_beam_search_gives(seed: int, beam: int, alpha: float) -> None:
    prompt = torch.tensor([[1, 2 + seed % 4]])
    steps = list(beam_search_trace(loud(seed), prompt, VOCAB, length=6, beam=beam, alpha=alpha))
    assert steps[-1].finished == beam_search(loud(seed), prompt, VOCAB, length=6, beam=beam, alpha=alpha)[0]
    assert not steps[-1].open and all(step.open for step in steps[:-1])
    for before, after in zip([[]] + [step.open for step in steps[:-1]], steps, strict=True):
        begun = [text.tokens for text in before] or [()]
        assert all(begun[row] == text.tokens[:-1] for row, text in after.weighed)
        totals = [text.logprob for _, text in after.weighed]
        assert totals == sorted(totals, reverse=True) and len(totals) <= 2 * beam
        assert [text for text in after.open if text in [weighed for _, weighed in after.weighed]] == after.open


def test_a_table_worked_by_hand() -> None:
    table = TableLM({"ab": 0.3, "ac": 0.3, "b": 0.4})
    first, second, *_ = beam_search_trace(table, table.prompt("a"), table.vocab, length=5, beam=1)
    assert [table.words[text.tokens[-1]] for _, text in first.weighed] == ["b", "c"]
    assert [table.read(text.tokens) for text in first.open] == [("b",)]
    assert [table.read(text.tokens) for text in second.finished] == [("b",)] and not second.open


def test_a_tree_grows_from_one_prompt() -> None:
    with pytest.raises(ValueError, match="got 2 prompts"):
        list(beam_search_trace(loud(0), torch.tensor([[1], [2]]), VOCAB, length=3))
