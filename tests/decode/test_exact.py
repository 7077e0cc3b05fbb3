"""Exact search against every text written out, and what it may be asked."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from writing import SMALL, VOCAB, a_gpt2, every_text, seeded, true_logprob, whims, without_cache

from plmlab.decode import TableLM, UncachedLM, beam_search, exact_search
from plmlab.text.vocabulary import Vocabulary


def ranking(model: UncachedLM, prompt: torch.Tensor, length: int) -> list[tuple[float, tuple[int, ...]]]:
    """All texts of SMALL with their log-probabilities, the likeliest first."""
    return sorted(((true_logprob(model, prompt, text), text) for text in every_text(4, 3, length)), reverse=True)


@pytest.mark.parametrize("sharp", [0.3, 1.5, 4.0])
@pytest.mark.parametrize("seed", range(12))
def test_the_likeliest_text_is_the_one_of_all_texts_written_out(seed, sharp):
    model, prompt = whims(seed, sharp=sharp), torch.tensor([[0, seed % 3]])
    [(logprob, text), *_] = ranking(model, prompt, 5)
    found = exact_search(model, prompt, SMALL, length=5)
    assert [best.tokens for best in found.best] == [text]
    assert found.best[0].logprob == pytest.approx(logprob, abs=1e-9)


@pytest.mark.parametrize("count", [2, 7, 40, 121])
@pytest.mark.parametrize("seed", range(4))
def test_as_many_as_asked_for_are_the_head_of_the_full_ranking(seed, count):
    model, prompt = whims(seed), torch.tensor([[1]])
    ranked = ranking(model, prompt, 4)
    found = exact_search(model, prompt, SMALL, length=4, count=count).best
    assert [text.tokens for text in found] == [text for _, text in ranked[:count]]
    assert [text.logprob for text in found] == pytest.approx([logprob for logprob, _ in ranked[:count]], abs=1e-9)


@pytest.mark.parametrize("sharp", [1.5, 15.0])
def test_more_texts_than_there_are_are_all_there_are(sharp):
    model, prompt = whims(3, sharp=sharp), torch.tensor([[1]])
    found = exact_search(model, prompt, SMALL, length=3, count=1000)
    assert [text.tokens for text in found.best] == [text for _, text in ranking(model, prompt, 3)]
    assert found.visited == [1, 3, 9]


def test_a_beam_errs_where_this_search_does_not():
    """Over many models: never below a beam, above greedy at times, and as few prefixes as the first bound promises."""
    errors = 0
    for seed in range(20):
        model, prompt = whims(seed, sharp=1.0), torch.tensor([[2]])
        found = exact_search(model, prompt, SMALL, length=6)
        for beam in (1, 2, 3, 8):
            [[text, *_]] = beam_search(model, prompt, SMALL, length=6, beam=beam)
            assert found.best[0].logprob >= text.logprob - 1e-9
            errors += beam == 1 and text.tokens != found.best[0].tokens
        [[first, *_]] = beam_search(model, prompt, SMALL, length=6, beam=4)
        assert max(found.visited) <= 1 / math.exp(first.logprob)
    assert 0 < errors < 20


@given(st.integers(0, 10_000), st.floats(0.0, 6.0), st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_no_depth_has_more_likelier_prefixes_than_there_is_probability(seed, sharp, length):
    model, prompt = whims(seed, sharp=sharp), torch.tensor([[0]])
    found = exact_search(model, prompt, SMALL, length=length)
    assert found.best[0].logprob == pytest.approx(ranking(model, prompt, length)[0][0], abs=1e-9)
    [[first, *_]] = beam_search(model, prompt, SMALL, length=length, beam=4)
    assert found.visited[0] == 1 and len(found.visited) <= length
    for depth, read in enumerate(found.visited):
        assert read <= math.exp(-first.logprob) * (1 + 1e-9) and read <= 3**depth


def test_the_notes_example_needs_two_prefixes():
    """苹果 has 0.45; 大 has 0.55 and stays open, 苹 has 0.45 and cannot do better; after 大 nothing has so much."""
    table = TableLM({"我爱苹果": .45, "我爱大象": .10, "我爱大人": .08, "我爱大妈": .12, "我爱大便": .05, "我爱大军":
                     .05,
                     "我爱大米": .08, "我爱大姐": .07})
    found = exact_search(table, table.prompt("我爱"), table.vocab, length=5)
    assert ["".join(table.read(text.tokens)) for text in found.best] == ["苹果"]
    assert math.exp(found.best[0].logprob) == pytest.approx(.45) and found.visited == [1, 1]
    three = exact_search(table, table.prompt("我爱"), table.vocab, length=5, count=3).best
    assert ["".join(table.read(text.tokens)) for text in three] == ["苹果", "大妈", "大象"]


@pytest.mark.parametrize("count", [2, 5])
def test_the_cache_changes_nothing_nor_does_reading_many_prefixes_at_once(count):
    """In single precision, in which a batch rounds otherwise than a text alone."""
    model, prompt, vocab = a_gpt2(seed=1).float(), torch.tensor([[5, 40, 41]]), Vocabulary(60, end=45)
    cached, reread = (exact_search(m, prompt, vocab, length=6, count=count) for m in (model, without_cache(model)))
    assert max(cached.visited) > 20, "a search of some width"
    assert len({text.tokens for text in cached.best}) == count
    logprobs = [text.logprob for text in cached.best]
    assert logprobs == sorted(logprobs, reverse=True)
    assert logprobs == pytest.approx([text.logprob for text in reread.best], abs=1e-4)
    for text in cached.best:
        alone = true_logprob(without_cache(model), prompt, text.tokens)
        assert text.logprob == pytest.approx(alone, abs=1e-4)
    for text in beam_search(model, prompt, vocab, length=6, beam=count)[0]:
        assert text.logprob <= cached.best[-1].logprob + 1e-4 or text.tokens in {best.tokens for best in cached.best}


def test_a_beams_text_survives_a_model_that_rounds_down_in_a_batch():
    """As if each batch of more than four lost a little: what the beam found may not vanish, nor stand there twice."""
    plain = whims(5, sharp=0.5)
    model = UncachedLM(lambda texts: plain.logits(texts).log_softmax(-1) - 1e-4 * (len(texts) > 4)
                       * torch.eye(4, dtype=torch.float64)[texts[:, -1]])
    prompt = torch.tensor([[1]])
    found = exact_search(model, prompt, SMALL, length=5, count=3)
    assert len({text.tokens for text in found.best}) == 3 and max(found.visited) > 4
    for best, beamed in zip(found.best, beam_search(model, prompt, SMALL, length=5, beam=4)[0], strict=False):
        assert best.logprob >= beamed.logprob


def test_banned_tokens_are_never_written_and_equals_are_all_as_good():
    flat = UncachedLM(lambda texts: torch.zeros(len(texts), 60, dtype=torch.float64))
    [text] = exact_search(flat, torch.tensor([[5]]), Vocabulary(60, end=39), length=1).best
    assert text.logprob == pytest.approx(-math.log(60)) and text.tokens[0] in VOCAB.words
    assert exact_search(flat, torch.tensor([[5]]), VOCAB, length=9).best[0].tokens == (VOCAB.end,)
    model, prompt = whims(8), torch.tensor([[0]])
    allowed = [text for _, text in ranking(model, prompt, 4) if 1 not in text]
    found = exact_search(model, prompt, SMALL, length=4, count=5, banned=[1])
    assert [text.tokens for text in found.best] == allowed[:5]


@pytest.mark.parametrize("seed", range(4))
def test_texts_without_an_end_all_have_the_full_length(seed):
    model, prompt = whims(seed), torch.tensor([[1]])
    endless = Vocabulary(4, None, None, None, None, None, None, end=None, sentinels=())
    ranked = sorted(itertools.product(range(4), repeat=4), key=lambda text: true_logprob(model, prompt, text))
    found = exact_search(model, prompt, endless, length=4, count=6)
    assert [text.tokens for text in found.best] == ranked[:-7:-1] and len(found.visited) == 4


def test_requests_that_make_no_sense_are_answered_in_words():
    model, prompt = whims(0, sharp=0.1), torch.tensor([[0]])
    with pytest.raises(ValueError, match="27 prefixes of 3 tokens remain, more than limit=20: give a smaller"):
        exact_search(model, prompt, SMALL, length=8, count=500, limit=20)
    with pytest.raises(ValueError, match="got 2 prompts"):
        exact_search(model, prompt.repeat(2, 1), SMALL, length=3)
    with pytest.raises(ValueError, match="count=0: give 1 or more"):
        exact_search(model, prompt, SMALL, length=3, count=0)
    with pytest.raises(ValueError, match="length=0"):
        exact_search(model, prompt, SMALL, length=0)
    with pytest.raises(ValueError, match=r"model.eval\(\)"):
        exact_search(a_gpt2().train(), torch.tensor([[5]]), VOCAB, length=2)


@pytest.mark.parametrize("seed", range(3))
def test_a_wide_vocabulary_is_searched_as_a_very_wide_beam_would(seed):
    model, prompt = a_gpt2(seed=seed), torch.randint(39, 60, (1, 3), generator=seeded(seed))
    [wide] = beam_search(model, prompt, Vocabulary(60, end=45), length=3, beam=500)
    found = exact_search(model, prompt, Vocabulary(60, end=45), length=3, count=10).best
    assert [text.tokens for text in found] == [text.tokens for text in wide[:10]]
