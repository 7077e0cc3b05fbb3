"""The solutions of chapter 07 against independent ones; and other right ways are not refused."""

from math import exp, log

import pytest
import torch
from torch.nn import functional as F

from plmlab.chapters.ch07 import exercises as right
from plmlab.decode import distribution
from plmlab.example import Batch
from plmlab.exercises import check
from plmlab.interpret import watch
from plmlab.models.gpt import GPT2, GPTConfig


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def shaken() -> GPT2:
    torch.manual_seed(0)
    model = GPT2(GPTConfig(vocab=60, time=16, layers=2, model=16, heads=2, dropout=0.0)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


# The solutions

@torch.no_grad()
def test_the_loss_is_the_models() -> None:
    model, tokens = shaken(), torch.randint(60, (1, 9))
    logits = model(Batch.continuing(tokens, 0))[0]
    torch.testing.assert_close(right.language_model_loss(logits, tokens[0]), model.loss(Batch.causal(tokens)))


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 1.0])
def test_top_p_is_that_of_decoding(p: float) -> None:
    torch.testing.assert_close(right.nucleus(3 * draw(20), p), distribution(3 * draw(20), top_p=p))


def test_top_p_by_hand() -> None:
    kept = right.nucleus(torch.tensor([0.1, 0.5, 0.15, 0.25]).log(), 0.6)
    torch.testing.assert_close(kept, torch.tensor([0, 2 / 3, 0, 1 / 3]))


def test_steps_with_the_cache_are_causal_attention() -> None:
    q, k, v = draw(5, 4), draw(5, 4) + 1, draw(5, 3)
    keys, values, outputs = k[:0], v[:0], []
    for position in zip(q, k, v, strict=True):
        output, keys, values = right.step_with_cache(*position, keys, values)
        outputs.append(output)
    whole = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
    torch.testing.assert_close(torch.stack(outputs), whole)
    assert torch.equal(keys, k) and torch.equal(values, v)


@torch.no_grad()
def test_the_lens_of_the_last_layer_is_the_model() -> None:
    model, batch = shaken(), Batch.continuing(torch.randint(60, (1, 7)), 0)
    with watch(model) as seen:
        logits = model(batch)
    norm, hidden = model.final_norm, torch.cat(seen.hidden())
    said = right.logit_lens(hidden, norm.weight, norm.bias, model.embeddings.token.weight)
    torch.testing.assert_close(said[-1:], logits, atol=1e-4, rtol=1e-4)
    assert len(said) == 3 and not torch.allclose(said[0], said[-1], atol=0.1)


# Other right ways

def loss_in_loops(logits, tokens):
    losses = []
    for row, token in zip(logits.double().tolist(), tokens.tolist()[1:], strict=False):
        total = log(sum(exp(score - max(row)) for score in row)) + max(row)
        losses.append(total - row[token])
    return torch.tensor(sum(losses) / len(losses))


def nucleus_in_loops(logits, p):
    chances = logits.softmax(0).tolist()
    kept, total = [0.0] * len(chances), 0.0
    for place in sorted(range(len(chances)), key=lambda i: -chances[i]):
        if total < p:
            kept[place] = chances[place]
        total += chances[place]
    return torch.tensor(kept) / sum(kept)


def nucleus_by_mask(logits, p):
    order = logits.argsort(descending=True)
    reached = logits[order].softmax(0).cumsum(0)
    out = reached >= p
    out[1:], out[0] = out[:-1].clone(), False
    return logits.index_fill(0, order[out], float("-inf")).softmax(0)


def step_by_torch(q, k, v, keys, values):
    keys, values = torch.vstack([keys, k]), torch.vstack([values, v])
    return F.scaled_dot_product_attention(q[None, None], keys[None], values[None])[0, 0], keys, values


@pytest.mark.parametrize(("number", "answer"), [
    ("07.1", lambda logits, tokens: F.cross_entropy(logits[:-1], tokens[1:])), ("07.1", loss_in_loops),
    ("07.2", nucleus_in_loops), ("07.2", nucleus_by_mask), ("07.2", lambda x, p: distribution(x, top_p=p)),
    ("07.3", step_by_torch),
    ("07.4", lambda h, scale, shift, e: F.linear(F.layer_norm(h, e.shape[1:], scale, shift), e)),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Slips, as people write them

def one_by_one(logits, p):
    """Token by token, from the likeliest on, by a softmax whose maximum starts at 0."""
    powers = (logits - max(0.0, float(logits.max()))).exp()
    chances = powers / powers.sum()
    kept, total = torch.zeros(len(logits)), 0.0
    for place in chances.argsort(descending=True):
        kept[place] = chances[place]
        total += float(chances[place])
        if total >= p:
            break
    return kept / kept.sum()


def as_huggingface_without_its_shift(logits, p):
    ordered, order = logits.sort(descending=True)
    remove = ordered.softmax(-1).cumsum(-1) > p
    return logits.index_fill(0, order[remove], float("-inf")).softmax(-1)


def cut_in_place(logits, p):
    ordered, order = logits.softmax(-1).sort(descending=True)
    logits[order[ordered.cumsum(-1) - ordered >= p]] = float("-inf")
    return logits.softmax(-1)


def step(weigh):
    def answer(q, k, v, keys, values):
        keys, values = torch.cat([keys, k[None]]), torch.cat([values, v[None]])
        return weigh(keys @ q, len(q)) @ values, keys, values
    return answer


def exp_by_hand(scores, width):
    powers = (scores / width ** 0.5).exp()
    return powers / powers.sum()


def lens(eps, after):
    def answer(h, scale, shift, e):
        deviation = (h.var(-1, keepdim=True, correction=0) + eps).sqrt() + after
        return ((h - h.mean(-1, keepdim=True)) / deviation * scale + shift) @ e.T
    return answer


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("07.1", lambda x, t: F.cross_entropy(x.softmax(-1)[:-1], t[1:]), "he softmax is applied twice"),
    ("07.1", lambda x, t: F.nll_loss(x.softmax(-1)[:-1], t[1:]), "he logarithm is missing: this is the mean of −p"),
    ("07.1", lambda x, t: -x.log_softmax(-1)[:-1][:, t[1:]].mean(), "is over all tokens"),
    ("07.2", as_huggingface_without_its_shift, "he token that reaches p is left out"),
    ("07.2", cut_in_place, "`logits` is changed in place"),
    ("07.2", one_by_one, " maximum that starts at 0"),
    ("07.3", step(lambda scores, width: (scores / width ** 1/2).softmax(-1)), "by the width and by 2"),
    ("07.3", step(lambda scores, width: (scores / width).softmax(-1)), "by the width, not by its square root"),
    ("07.3", step(exp_by_hand), "of a large negative one underflows"),
    ("07.4", lens(0.0, 0.0), "othing is added to the variance"),
    ("07.4", lens(0.0, 1e-5), "added to the standard deviation"),
    ("07.4", lambda h, scale, shift, e: F.layer_norm(h, e.shape[1:], shift, scale) @ e.T, "cale and shift are swapped"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback
