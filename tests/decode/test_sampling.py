"""Sampling, against brute force, transformers' warpers and counted draws; and what may be asked."""

import math
from collections import Counter

import pytest
import torch
from transformers import TopKLogitsWarper, TopPLogitsWarper
from writing import SMALL, VOCAB, a_gpt2, a_source, every_text, seeded, true_logprob, whims

from plmlab.decode import (
    Beam,
    ConditionedDecoder,
    beam_search,
    distribution,
    diverse_beam_search,
    exact_search,
    greedy,
    sample,
)
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.text.vocabulary import Vocabulary


def brute_force(logits: list[float], temperature: float, top_k: int | None, top_p: float | None) -> list[float]:
    weights = [math.exp(x / temperature) for x in logits]
    ranked = sorted(range(len(weights)), key=lambda i: -weights[i])[:top_k]
    total = sum(weights[i] for i in ranked)
    kept, mass = [], 0.0
    for i in ranked:
        kept.append(i)
        mass += weights[i] / total
        if top_p is not None and mass >= top_p:
            break
    return [weights[i] / sum(weights[j] for j in kept) if i in kept else 0.0 for i in range(len(weights))]


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("top_k", [None, 1, 3, 50])
@pytest.mark.parametrize("top_p", [None, 1e-6, 0.5, 0.9, 1.0])
def test_the_distribution_is_the_one_worked_out_by_hand(temperature, top_k, top_p):
    logits = torch.randn(6, 11, generator=seeded(1), dtype=torch.float64)
    expected = torch.tensor([brute_force(row, temperature, top_k, top_p) for row in logits.tolist()])
    assert torch.allclose(distribution(logits, temperature, top_k, top_p).float(), expected.float(), atol=1e-6)


@pytest.mark.parametrize("top_k, top_p", [(5, None), (None, 0.7), (20, 0.95), (400, 0.2)])
def test_the_distribution_is_that_of_transformers_warpers(top_k, top_p):
    logits = 3 * torch.randn(8, 300, generator=seeded(2), dtype=torch.float64)
    warped = logits / 0.8
    if top_k:
        warped = TopKLogitsWarper(top_k)(None, warped)
    if top_p:
        warped = TopPLogitsWarper(top_p)(None, warped)
    ours = distribution(logits, 0.8, top_k, top_p)
    assert torch.equal(ours > 0, warped > -math.inf)
    assert torch.allclose(ours, warped.softmax(-1), atol=1e-6)


def test_a_tie_at_the_cut_of_top_k_is_kept_whole_and_extreme_temperatures_are_sound():
    assert distribution(torch.tensor([2.0, 1.0, 1.0, 0.0]), top_k=2).tolist()[3] == 0
    assert torch.count_nonzero(distribution(torch.tensor([2.0, 1.0, 1.0, 0.0]), top_k=2)) == 3
    assert distribution(torch.tensor([90.0, 89.0]), temperature=1e-30).tolist() == [1.0, 0.0]
    flat = distribution(torch.tensor([9.0, -9.0, -math.inf]), temperature=1e9)
    assert torch.allclose(flat, torch.tensor([0.5, 0.5, 0.0]))


@pytest.mark.parametrize("choices", [{}, {"temperature": 0.5}, {"top_k": 2}, {"temperature": 2.0, "top_p": 0.8}])
def test_texts_are_drawn_as_often_as_the_distribution_says(choices):
    model, prompt, draws = whims(3, sharp=1.0), torch.tensor([[1]]), 6000
    texts = sample(model, prompt.expand(draws, 1), SMALL, length=2, generator=seeded(5), **choices)
    often = Counter(text.tokens for text in texts)
    for text in every_text(4, 3, 2):
        chance = 1.0
        for i, token in enumerate(text):
            before = torch.cat([prompt, torch.tensor([text[:i]], dtype=torch.long)], dim=1)
            chance *= float(distribution(model.logits(before), **choices)[0, token])
        bound = 4.5 * math.sqrt(chance * (1 - chance) / draws)
        assert abs(often[text] / draws - chance) <= bound, text
    drawn = texts[0]
    assert drawn.logprob == pytest.approx(true_logprob(model, prompt, drawn.tokens), abs=1e-9)


def test_the_same_generator_draws_the_same_text():
    model, prompt = a_gpt2(), torch.tensor([[5, 40, 41], [5, 44, 50]])
    one, two, other = (sample(model, prompt, VOCAB, length=10, generator=seeded(s)) for s in (1, 1, 2))
    assert one == two != other


def test_special_tokens_are_not_written_unless_asked_for():
    model, prompt = a_gpt2(seed=2), torch.randint(39, 60, (40, 2), generator=seeded(4))
    hot = {"length": 20, "generator": seeded(0), "temperature": 5.0}
    def written(**choices):
        return {token for text in sample(model, prompt, VOCAB, **hot, **choices) for token in text.tokens}
    assert written() == {VOCAB.end, *VOCAB.words}
    assert written(banned=()) == set(range(60))
    assert written(banned=range(1, 60)) == {0}
    for text in beam_search(model, prompt[:2], VOCAB, length=8, beam=30)[0]:
        assert not VOCAB.special & set(text.tokens[:-1])


def test_a_banned_end_is_not_written():
    model, prompt, ban = whims(3), torch.tensor([[0]]), {"length": 5, "banned": [SMALL.end]}
    endless = [text for text in every_text(4, SMALL.end, 5) if SMALL.end not in text]
    best = max(endless, key=lambda text: true_logprob(model, prompt, text))
    assert [text.tokens for text in exact_search(model, prompt, SMALL, **ban).best] == [best]
    assert beam_search(model, prompt, SMALL, beam=len(endless), **ban)[0][0].tokens == best
    assert SMALL.end in greedy(model, prompt, SMALL, length=5, banned=())[0].tokens
    for text in (greedy(model, prompt, SMALL, **ban)[0], sample(model, prompt, SMALL, generator=seeded(0), **ban)[0],
                 *diverse_beam_search(model, prompt, SMALL, beam=4, groups=2, strength=0.5, **ban)[0]):
        assert text.tokens in endless


def test_a_model_with_more_rows_than_the_vocabulary_has_words_writes_only_words():
    model, prompt = a_gpt2(), torch.randint(39, 50, (10, 2), generator=seeded(4))
    texts = sample(model, prompt, Vocabulary(50), length=20, generator=seeded(0), temperature=9.0)
    assert max(token for text in texts for token in text.tokens) == 49


@pytest.mark.parametrize("wrong, says", [
    ({"temperature": 0.0}, "use greedy"), ({"temperature": -1.0}, "use greedy"),
    ({"temperature": math.nan}, "use greedy"), ({"top_p": 0.0}, "above 0 and at most 1"),
    ({"top_p": 1.1}, "above 0 and at most 1"), ({"top_k": 0}, "keep at least 1 token"),
])
def test_a_distribution_that_makes_no_sense_is_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        distribution(torch.zeros(3), **wrong)
    with pytest.raises(ValueError, match=says):
        sample(whims(0), torch.tensor([[0]]), SMALL, length=1, generator=seeded(0), **wrong)


def test_bad_requests_are_answered_in_words():
    model, prompt = whims(0), torch.tensor([[0]])
    with pytest.raises(ValueError, match=r"begin with \[START\]"):
        greedy(model, torch.zeros(1, 0, dtype=torch.long), SMALL, length=3)
    with pytest.raises(ValueError, match="length=0"):
        greedy(model, prompt, SMALL, length=0)
    with pytest.raises(ValueError, match="beam=0"):
        beam_search(model, prompt, SMALL, length=3, beam=0)
    with pytest.raises(ValueError, match="alpha=-1"):
        Beam(2, -1.0, 5, None)
    with pytest.raises(ValueError, match="all 4 tokens are banned"):
        greedy(model, prompt, Vocabulary(4, end=None, sentinels=()), length=3, banned=range(4))
    with pytest.raises(ValueError, match="has 4 tokens, but the vocabulary has 60"):
        greedy(model, prompt, VOCAB, length=3)
    with pytest.raises(ValueError, match=r"model.eval\(\)"):
        greedy(a_gpt2().train(), torch.tensor([[5]]), VOCAB, length=3)
    with pytest.raises(ValueError, match=r"model.eval\(\)"):
        greedy(ConditionedDecoder(Transformer(TransformerConfig(60)).train(), a_source([40])), torch.tensor([[5]]),
               VOCAB, length=3)
