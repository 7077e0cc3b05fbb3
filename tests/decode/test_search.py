"""Greedy and beam search, against exhaustive search and the notes' example."""

import math

import pytest
import torch
from writing import SMALL, every_text, true_logprob, whims

from plmlab.decode import TableLM, UncachedLM, beam_search, distribution, greedy, length_penalty

NOTES = {"我爱苹果": .45, "我爱大象": .10, "我爱大人": .08, "我爱大妈": .12, "我爱大便": .05, "我爱大军": .05,
         "我爱大米": .08, "我爱大姐": .07}


def test_greedy_is_led_astray_and_a_beam_of_two_is_not():
    table = TableLM(NOTES)
    prompt = table.prompt("我爱")
    first = distribution(table.next_words(prompt))[0]
    assert first[table.ids("大")[0]] == pytest.approx(.55)
    [astray] = greedy(table, prompt, table.vocab, length=5)
    assert "".join(table.read(astray.tokens)) == "大妈"
    assert math.exp(astray.logprob) == pytest.approx(.12)
    [[found, second]] = beam_search(table, prompt, table.vocab, length=5, beam=2)
    assert "".join(table.read(found.tokens)) == "苹果"
    assert math.exp(found.logprob) == pytest.approx(.45)
    assert "".join(table.read(second.tokens)) == "大妈"


def test_a_table_says_what_it_does_not_know():
    table = TableLM(NOTES)
    with pytest.raises(ValueError, match="no word '狗'"):
        table.prompt("我爱狗")
    with pytest.raises(ValueError, match="no text of the table begins with '爱 我'"):
        greedy(table, table.prompt("爱我"), table.vocab, length=2)
    with pytest.raises(ValueError, match="at least one text"):
        TableLM({})
    with pytest.raises(ValueError, match="above 0"):
        TableLM({"a": 0.0})


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
@pytest.mark.parametrize("seed", range(6))
def test_a_wide_beam_ranks_all_texts_as_exhaustive_search_does(seed, alpha):
    model, prompt, length = whims(seed), torch.tensor([[0, 1]]), 4
    truth = {text: true_logprob(model, prompt, text) for text in every_text(4, 3, length)}
    assert math.fsum(map(math.exp, truth.values())) == pytest.approx(1)
    ranked = sorted(truth, key=lambda text: truth[text] / ((5 + len(text)) / 6) ** alpha, reverse=True)
    [found] = beam_search(model, prompt, SMALL, length=length, beam=len(truth), alpha=alpha)
    assert [text.tokens for text in found] == ranked
    for text in found:
        assert text.logprob == pytest.approx(truth[text.tokens], abs=1e-9)


def test_a_narrow_beam_finds_less_but_never_lies():
    missed = 0
    for seed in range(20):
        model, prompt = whims(seed), torch.tensor([[2]])
        best = max(true_logprob(model, prompt, text) for text in every_text(4, 3, 4))
        for beam in (1, 2, 3):
            for text in beam_search(model, prompt, SMALL, length=4, beam=beam)[0]:
                assert text.logprob == pytest.approx(true_logprob(model, prompt, text.tokens), abs=1e-9)
                assert text.logprob <= best + 1e-9
        missed += beam_search(model, prompt, SMALL, length=4, beam=1)[0][0].logprob < best - 1e-9
    assert 0 < missed < 20


def reference_beam(model: UncachedLM, prompt: torch.Tensor, length: int, beam: int, alpha: float) -> list[tuple]:
    """The search written down again without stopping early: every step of every open text, sorted."""
    def score(text: tuple) -> float:
        return true_logprob(model, prompt, text) / ((5 + len(text)) / 6) ** alpha
    open, finished = [()], []
    for step in range(length):
        steps = sorted(((*text, token) for text in open for token in range(4)),
                       key=lambda text: true_logprob(model, prompt, text), reverse=True)
        finished += [text for text in steps[:beam] if text[-1] == 3 or step == length - 1]
        open = [text for text in steps if text[-1] != 3][:beam]
    return sorted(finished, key=score, reverse=True)[:beam]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 3.0])
def test_stopping_early_loses_nothing(alpha):
    for seed in range(12):
        model, prompt = whims(seed, sharp=2.5), torch.tensor([[1]])
        found = beam_search(model, prompt, SMALL, length=6, beam=2, alpha=alpha)[0]
        assert [text.tokens for text in found] == reference_beam(model, prompt, 6, 2, alpha)


def test_a_search_that_can_win_nothing_more_stops():
    read = []
    model = UncachedLM(lambda texts: read.append(texts.shape) or torch.tensor([[0.0, 0, 0, 9]]).repeat(len(texts), 1))
    beam_search(model, torch.tensor([[0]]), SMALL, length=50, beam=1)
    assert len(read) == 1


def test_the_length_penalty_is_the_one_of_the_paper_and_favours_length():
    assert length_penalty(1, 0.6) == 1
    assert length_penalty(7, 0.5) == pytest.approx(2**0.5)
    table = TableLM({"ab": .30, "acdefg": .29})
    def best(alpha: float) -> str:
        [[text, *_]] = beam_search(table, table.prompt("a"), table.vocab, length=9, beam=2, alpha=alpha)
        return "".join(table.read(text.tokens))
    assert (best(0.0), best(1.0)) == ("b", "cdefg")


@pytest.mark.parametrize("seed", range(5))
def test_greedy_takes_the_likeliest_each_time_and_a_beam_of_one_too(seed):
    model, prompts = whims(seed), torch.tensor([[0, 1], [2, 2], [1, 0]])
    written = greedy(model, prompts, SMALL, length=6)
    for prompt, text in zip(prompts, written, strict=True):
        expected: list[int] = []
        while len(expected) < 6 and 3 not in expected:
            so_far = torch.cat([prompt, torch.tensor(expected, dtype=torch.long)])[None]
            expected.append(int(model.logits(so_far).argmax()))
        assert text.tokens == tuple(expected)
        assert text.logprob == pytest.approx(true_logprob(model, prompt[None], text.tokens), abs=1e-9)
    assert [text.tokens for [text] in beam_search(model, prompts, SMALL, length=6, beam=1)] == [
        text.tokens for text in written]
