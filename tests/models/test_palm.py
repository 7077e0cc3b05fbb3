"""PALM: the pointer-generator by hand and at its limits, and the encoder that stage 1 has pretrained."""

from dataclasses import replace
from math import exp, log, tanh
from typing import Any

import pytest
import torch
from parity.alike import same, shaken
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.layers.pointer import log_add_at
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.mass import MASS, MASSConfig
from plmlab.models.nezha import NEZHA, NEZHAConfig
from plmlab.models.palm import PALM, PALM_ENCODER_DECODER, PALMConfig
from plmlab.models.roberta import RoBERTa, RoBERTaConfig, RoBERTaPretraining
from plmlab.objectives import cls_first
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)
SIZE: dict[str, Any] = {"vocab": 60, "time": 16, "layers": 2, "model": 8, "heads": 2, "inner": 12, "dropout": 0.0,
                        "attention_dropout": 0.0}
TEXTS = [([41, 45, 41, 52, 41], [45, 41, 50]), ([44, 44], [53]), ([50, 51, 52], [])]
"""Sources of different lengths, in which tokens occur more than once."""

pytestmark = pytest.mark.usefixtures("one_thread")


def palm(**choices: Any) -> PALM:
    """A small PALM in float64 with random weights."""
    model = shaken(PALM(PALMConfig(**SIZE | choices)))
    assert isinstance(model, PALM)
    return model


def batch() -> PairBatch:
    """The texts as a padded batch."""
    pairs: list[Any] = [PALM_ENCODER_DECODER.example(*pair, VOCAB) for pair in TEXTS]
    return PairBatch.of(pairs, pad=0)


def gate(model: PALM, logit: float) -> PALM:
    """Set λ to the sigmoid of this logit, everywhere."""
    with torch.no_grad():
        model.pointer.gate.weight.zero_()
        model.pointer.gate.bias.fill_(logit)
    return model


def probabilities_by_hand(model: PALM, given: PairBatch) -> list[list[list[float]]]:
    """Equations 2 to 8, one number at a time, from the outputs of encoder and decoder."""
    memory = model.encoder(given.source)
    hidden = model.decoder(given.target, memory, given.cross)
    named = {name: weight.tolist() for name, weight in model.named_parameters()}

    def times(matrix: list[list[float]], vector: list[float]) -> list[float]:
        return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]

    def softmax(values: list[float]) -> list[float]:
        total = sum(map(exp, values))
        return [exp(value) / total for value in values]

    rows = []
    for row, (source, _) in enumerate(TEXTS):
        tokens, found = [VOCAB.cls, *source, VOCAB.sep], []
        h = memory[row, :len(tokens)].tolist()
        for s in hidden[row].tolist():
            inner = [a + b for a, b in zip(times(named["transform.weight"], s), named["transform.bias"], strict=True)]
            generated = softmax(times(named["token.weight"], inner))
            query = times(named["pointer.alignment.state.weight"], s)
            scores = [sum(w * tanh(m + q + b) for w, m, q, b in zip(
                named["pointer.alignment.vote.weight"][0], times(named["pointer.alignment.source.weight"], one), query,
                named["pointer.alignment.state.bias"], strict=True)) for one in h]
            weights = softmax(scores)
            z = [sum(a * one[i] for a, one in zip(weights, h, strict=True)) for i in range(len(s))]
            mix = 1 / (1 + exp(-times(named["pointer.gate.weight"], [*z, *s])[0] - named["pointer.gate.bias"][0]))
            found.append([mix * p + (1 - mix) * sum(a for a, token in zip(weights, tokens, strict=True) if token == y)
                          for y, p in enumerate(generated)])
        rows.append(found)
    return rows


def test_probabilities_by_hand() -> None:
    model, given = palm(), batch()
    expected = torch.tensor(probabilities_by_hand(model, given), dtype=torch.float64)
    found = model(given)
    same(found.exp(), expected)
    same(found.exp().sum(-1), torch.ones(3, 4, dtype=torch.float64))
    losses = [-log(expected[row, at, target]) for row, targets in enumerate(given.targets.tolist())
              for at, target in enumerate(targets) if target != IGNORE]
    same(model.loss(given), torch.tensor(sum(losses) / 7, dtype=torch.float64))


def test_with_the_pointer_closed_it_is_mass() -> None:
    """With an output transform that changes nothing, and without MASS's output bias."""
    model, mass = gate(palm(), 1e4), shaken(MASS(MASSConfig(**SIZE, eps=1e-5)))
    common = {name for name, _ in mass.named_parameters()} - {"output_bias"}
    assert {name for name, _ in model.named_parameters()} - common == {
        "transform.weight", "transform.bias", *(f"pointer.{name}" for name, _ in model.pointer.named_parameters())}
    with torch.no_grad():
        mass.output_bias.zero_()
        nn.init.eye_(model.transform.weight)
        model.transform.bias.zero_()
    mass.load_state_dict(model.state_dict(), strict=False)
    given = batch()
    same(model(given), mass(given).log_softmax(-1))
    for one in (model, mass):
        one.loss(given).backward()
    same(model.loss(given), mass.loss(given))
    for name in common:
        same(model.get_parameter(name).grad, mass.get_parameter(name).grad)
    for name, weight in model.pointer.named_parameters():
        assert weight.grad is not None and not weight.grad.any(), name


def test_with_the_generator_closed_only_source_tokens_have_probability() -> None:
    """Also [CLS] and [SEP], but not [PAD]; a token that occurs twice has the sum of both weights."""
    model, given = gate(palm(), -1e4), batch()
    found, scores = model(given).exp(), []
    model.pointer.alignment.scores.records.append(scores.append)
    model(given)
    for row, (source, _) in enumerate(TEXTS):
        tokens = [VOCAB.cls, *source, VOCAB.sep]
        others = [token for token in range(60) if token not in tokens]
        assert not found[row][:, others].any() and 0 in others
        weights = scores[0][row, 0, :, :len(tokens)].softmax(-1)
        for token in set(tokens):
            same(found[row][:, token], weights[:, [place for place, one in enumerate(tokens) if one == token]].sum(-1))


def test_the_padding_of_a_source_does_not_matter() -> None:
    """Neither its length nor its tokens."""
    model, given = palm(), batch()
    for row, pair in enumerate(TEXTS):
        alone: Any = PALM_ENCODER_DECODER.example(*pair, VOCAB)
        same(model(given)[row, :len(pair[1]) + 1], model(PairBatch.of([alone], pad=0))[0])
    other = given.source.tokens.masked_fill(~given.source.padding_mask, 41)
    same(model(replace(given, source=replace(given.source, tokens=other))), model(given))


def test_generation_follows_the_rows_that_beam_search_selects() -> None:
    """Each row keeps its source: tokens, padding, keys and encoder outputs."""
    model, given = palm(), batch()
    state, logits, rows = model.start(given.source), model(given), torch.tensor([0, 1, 2])
    for at, chosen in enumerate(([2, 0, 1], [1, 1, 2], [0, 2, 1], [2, 1, 0])):
        state.select(torch.tensor(chosen))
        rows = rows[chosen]
        real = given.targets[rows, at] != IGNORE
        same(model.step(given.target.tokens[rows, at:at + 1], state)[real], logits[rows, at][real])


def test_gradients_reach_every_weight_and_are_those_of_differences() -> None:
    model, given = palm(), batch()
    model.loss(given).backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None and weight.grad.isfinite().all() and weight.grad.any(), name
    generator = torch.Generator().manual_seed(0)
    logs, added = (torch.randn(2, 3, size, generator=generator, dtype=torch.float64).requires_grad_()
                   for size in (6, 4))
    tokens = torch.tensor([[1, 4, 1, 5], [0, 0, 0, 2]])
    assert torch.autograd.gradcheck(lambda *both: log_add_at(both[0], tokens, both[1]), (logs, added))


def test_sums_of_probabilities_too_small_for_float32() -> None:
    logs, tokens = torch.tensor([[[-3e4, -200.0, 0.0]]]), torch.tensor([[0, 0, 1, 2]])
    added = torch.tensor([[[-1e4, -1e4, float("-inf"), -300.0]]])
    same(log_add_at(logs, tokens, added), torch.tensor([[[-1e4 + log(2), -200.0, 0.0]]]), 2e-3)
    confident = gate(palm(), 1e4).float()
    with torch.no_grad():
        confident.transform.weight.mul_(1e3)
    loss = confident.loss(batch())
    loss.backward()
    assert loss > 100
    for weight in confident.parameters():
        assert weight.grad is not None and weight.grad.isfinite().all()


def test_numbers_of_parameters_and_layers() -> None:
    with torch.device("meta"):
        base, large = PALM(PALMConfig.base()), PALM(PALMConfig.large())

    def expected(d: int, encoder: int, decoder: int) -> int:
        attention, inner, norm = 4 * d * (d + 1), 8 * d * d + 5 * d, 2 * d
        layers = encoder * (attention + inner + 2 * norm) + decoder * (2 * attention + inner + 3 * norm)
        pointer = 2 * d * d + d + d + 2 * d + 1
        return layers + 50_265 * d + 2 * (512 * d + norm) + d * d + d + pointer
    for model, size in ((base, (768, 12, 12)), (large, (1024, 24, 6))):
        assert sum(weight.numel() for weight in model.parameters()) == expected(*size)
        assert (len(model.encoder.layers), len(model.decoder.layers)) == size[1:]
    deep = palm(layers=1, decoder_layers=3)
    assert (len(deep.encoder.layers), len(deep.decoder.layers)) == (1, 3)
    state, given = deep.start(batch().source), batch()
    assert len(state.caches) == 3
    same(deep.step(given.target.tokens, state)[0], deep(given)[0, -1])


def texts() -> Batch:
    """Texts of 3, 7 and 5 tokens in BERT's format, with padding."""
    return Batch.of([cls_first(range(40, 40 + n), None, VOCAB) for n in (1, 5, 3)], pad=0)


@pytest.mark.parametrize("name", ["roberta", "bert"])
def test_a_pretrained_encoder_gives_the_same_outputs(name: str) -> None:
    pretraining = shaken(RoBERTaPretraining(RoBERTaConfig(**SIZE)), seed=1)
    bert = shaken(BERT(BERTConfig(**SIZE)), seed=1)
    encoder: Any = pretraining.encoder if name == "roberta" else bert
    model, given = palm(eps=encoder.config.eps), texts()
    before, decoder = model.encoder(given), snapshot(model.decoder)
    model.load_encoder(encoder)
    same(model.encoder(given)[given.padding_mask], encoder(given)[given.padding_mask])
    assert not torch.allclose(model.encoder(given), before)
    assert torch.equal(model.decoder.embeddings.token.weight, encoder.embeddings.token.weight)
    assert model.decoder.embeddings.token.weight is model.encoder.embeddings.token.weight
    for key, tensor in snapshot(model.decoder).items():
        assert torch.equal(tensor, decoder[key]) == ("token" not in key), key
    with torch.no_grad():
        encoder.embeddings.token.weight.zero_()
    assert model.token.weight.any(), "the weights are copied"


def snapshot(module: nn.Module) -> dict[str, Tensor]:
    """A copy of the parameters."""
    return {name: weight.detach().clone() for name, weight in module.named_parameters()}


@pytest.mark.parametrize("encoder", [
    RoBERTa(RoBERTaConfig(**SIZE | other)) for other in (
        {"vocab": 61}, {"time": 15}, {"layers": 1}, {"layers": 3}, {"model": 12}, {"heads": 4}, {"inner": 16},
        {"eps": 1e-12}, {"activation": "relu"})] + [NEZHA(NEZHAConfig(**SIZE | {"eps": 1e-5}))],
    ids=lambda encoder: type(encoder).__name__)
def test_another_encoder_is_refused(encoder: Any) -> None:
    model = palm()
    before = snapshot(model)
    with pytest.raises(ValueError, match=f"not those of a {type(encoder).__name__} with .*; give a RoBERTa or BERT"):
        model.load_encoder(encoder)
    assert all(torch.equal(tensor, before[name]) for name, tensor in snapshot(model).items())
