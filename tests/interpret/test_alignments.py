"""Where a decoder looks: against greedy decoding and against the weights seen step by step; and what holding does."""

import pytest
import torch
from torch import Tensor, nn

from plmlab.decode import ConditionedDecoder, greedy
from plmlab.example import Batch, PairBatch
from plmlab.interpret import watch
from plmlab.interpret.alignments import cross_attention_weights, translate
from plmlab.models.seq2seq import AdditiveSeq2Seq, DotSeq2Seq, GeneralSeq2Seq, Seq2Seq, Seq2SeqConfig
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)
SOURCE = [41, 45, 52, 44]
LOOKING = ["dot", "general", "additive", "transformer"]
every_look = pytest.mark.parametrize("name", LOOKING)


def made(name: str, seed: int = 0) -> nn.Module:
    kinds = {"fixed": Seq2Seq, "dot": DotSeq2Seq, "general": GeneralSeq2Seq, "additive": AdditiveSeq2Seq}
    if name == "transformer":
        model: nn.Module = Transformer(TransformerConfig(60, layers=2, model=8, heads=2, inner=8))
    else:
        model = kinds[name](Seq2SeqConfig(60, layers=2, model=8))
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.8, generator=generator)
    return model.double().eval()


def read(source: list[int]) -> Batch:
    return Batch.of([sequence_to_sequence(source, [], vocab=VOCAB).source], pad=0)


@pytest.mark.parametrize("source", [SOURCE, [41], [], [50, 41, 50, 41, 50, 41, 50]])
@pytest.mark.parametrize("name", ["fixed", *LOOKING])
def test_with_nothing_held_it_is_greedy(name: str, source: list[int]) -> None:
    for seed in range(2):
        model = made(name, seed)
        found = translate(model.train(), source, VOCAB, length=9)
        assert model.training
        (wanted,) = greedy(ConditionedDecoder(model.eval(), read(source)), torch.tensor([[5]]), VOCAB, length=9)
        assert found.tokens == wanted.tokens
        assert sum(found.logprobs) == pytest.approx(wanted.logprob, abs=1e-9)
        if name == "fixed":
            assert found.weights is None
        else:
            assert found.weights is not None and found.weights.shape == (len(found.tokens), len(source) + 1)
            torch.testing.assert_close(found.weights.sum(-1), torch.ones(len(found.tokens)).double())


def test_it_stops_at_the_end() -> None:
    model = made("dot")
    with torch.no_grad():
        model.output.bias[VOCAB.need("end")] += 100
    found = translate(model, SOURCE, VOCAB, length=9)
    assert found.tokens == (VOCAB.end,) and len(found.logprobs) == 1


@every_look
def test_a_held_step_is_looked_at_and_changes_only_what_comes_from_it_on(name: str) -> None:
    model, held = made(name), {2: [0.0, 3.0, 0.0, 0.0, 1.0], 4: [1.0, 1.0, 1.0, 1.0, 1.0]}
    free = translate(model, SOURCE, VOCAB, length=7)
    after = translate(model, SOURCE, VOCAB, length=7, fixed_weights=held)
    assert free.weights is not None and after.weights is not None and len(free.tokens) > 4 and len(after.tokens) > 4
    assert after.tokens[:2] == free.tokens[:2]
    assert after.logprobs[:2] == pytest.approx(free.logprobs[:2], abs=1e-9)
    torch.testing.assert_close(after.weights[:2], free.weights[:2], atol=1e-10, rtol=0)
    assert abs(free.logprobs[2] - after.logprobs[2]) > 1e-4
    torch.testing.assert_close(after.weights[2], torch.tensor([0, 0.75, 0, 0, 0.25], dtype=torch.float64))
    torch.testing.assert_close(after.weights[4], torch.full((5,), 0.2, dtype=torch.float64))


@every_look
def test_holding_what_it_does_by_itself_changes_nothing(name: str) -> None:
    """Of one head; many heads have other weights than their mean."""
    model = made(name)
    free = translate(model, SOURCE, VOCAB, length=6)
    assert free.weights is not None
    held = {step: row.tolist() for step, row in enumerate(free.weights)}
    again = translate(model, SOURCE, VOCAB, length=6, fixed_weights=held)
    if name == "transformer":
        assert again.logprobs[0] != pytest.approx(free.logprobs[0], abs=1e-6)
    else:
        assert again.tokens == free.tokens and again.logprobs == pytest.approx(free.logprobs, abs=1e-9)


@every_look
def test_a_position_that_is_shut_is_not_looked_at_and_the_others_take_its_share(name: str) -> None:
    model, masked = made(name), (1, 4)
    free, after = translate(model, SOURCE, VOCAB, length=5), translate(model, SOURCE, VOCAB, length=5, masked=masked)
    assert free.weights is not None and after.weights is not None
    assert not after.weights[:, list(masked)].any()
    torch.testing.assert_close(after.weights.sum(-1), torch.ones(len(after.tokens)).double())
    assert after.logprobs[0] != pytest.approx(free.logprobs[0], abs=1e-6)
    if name != "transformer":
        left = free.weights[0].clone()
        left[[1, 4]] = 0
        torch.testing.assert_close(after.weights[0], left / left.sum())
    nowhere = translate(model, SOURCE, VOCAB, length=3, masked=range(5))
    assert nowhere.weights is not None and not nowhere.weights.any()
    held = {0: [1.0, 1.0, 0.0, 0.0, 0.0], 1: [0.0, 1.0, 0.0, 0.0, 1.0]}
    both = translate(model, SOURCE, VOCAB, length=3, fixed_weights=held, masked=masked)
    assert both.weights is not None
    assert both.weights[:2].tolist() == [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0]]


def step_by_step(model: nn.Module, batch: PairBatch) -> Tensor:
    """The weights of each position, a word at a time, each layer and each head added by hand."""
    rows = []
    with torch.no_grad():
        state = model.start(batch.source)
        for position in range(batch.size[1]):
            with watch(model) as seen:
                model.step(batch.target.tokens[:, position:position + 1], state)
            points = [seen[name] for name in seen if name.endswith("cross_attention.weights")]
            heads = [point[:, head, 0] for point in points for head in range(point.shape[1])]
            rows.append(sum(heads) / len(heads))
    return torch.stack(rows, 1)


@every_look
def test_the_weights_of_the_right_words_are_those_seen_step_by_step(name: str) -> None:
    model = made(name)
    for lengths in ([(4, 3)], [(4, 6), (1, 6), (6, 6)]):
        batch = PairBatch.of([sequence_to_sequence(range(40, 40 + n), range(45, 45 + m), vocab=VOCAB)
                              for n, m in lengths], pad=0)
        found = cross_attention_weights(model, batch)
        assert found.shape == (len(lengths), lengths[0][1] + 1, max(n for n, _ in lengths) + 1)
        torch.testing.assert_close(found, step_by_step(model, batch), atol=1e-10, rtol=0)
        for row, (n, _) in zip(found, lengths, strict=True):
            assert not row[:, n + 1:].any()


@every_look
def test_what_it_wrote_is_looked_at_as_when_it_is_given(name: str) -> None:
    model = made(name)
    found = translate(model, SOURCE, VOCAB, length=6)
    batch = PairBatch.of([sequence_to_sequence(SOURCE, found.tokens[:-1], vocab=VOCAB)], pad=0)
    assert found.weights is not None
    torch.testing.assert_close(cross_attention_weights(model, batch)[0], found.weights, atol=1e-10, rtol=0)


@pytest.mark.parametrize(("asked", "said"), [
    ({"fixed_weights": {0: [1.0, 0.0]}}, "step 0 has 2 weights; give 5, one per source position"),
    ({"fixed_weights": {0: []}}, "step 0 has 0 weights"),
    ({"fixed_weights": {1: [1.0, 1.0, 1.0, 1.0, -1.0]}}, "none below 0 and at least one above 0"),
    ({"fixed_weights": {1: [0.0, 0.0, 0.0, 0.0, 0.0]}}, "none below 0 and at least one above 0"),
    ({"fixed_weights": {6: [1.0, 1.0, 1.0, 1.0, 1.0]}},
     "there is no step 6: at most 6 tokens are generated, counted from 0"),
    ({"fixed_weights": {-1: [1.0, 1.0, 1.0, 1.0, 1.0]}}, "there is no step -1"),
    ({"masked": [5]}, r"there is no position 5 in a source of 5 positions, \[END\] included"),
    ({"masked": [-1]}, "there is no position -1"),
    ({"length": 0}, "length=0: the maximum number of tokens must be 1 or more"),
    ({"vocab": Vocabulary(70)}, "the model has 60 tokens, but the vocabulary has 70"),
])
def test_errors_in_the_readers_words(asked: dict, said: str) -> None:
    choices = {"vocab": VOCAB, "length": 6} | asked
    with pytest.raises(ValueError, match=said):
        translate(made("dot"), SOURCE, **choices)


def test_what_has_no_attention_cannot_be_held() -> None:
    for asked in ({"fixed_weights": {0: [1.0, 1.0, 1.0, 1.0, 1.0]}}, {"masked": [0]}):
        with pytest.raises(ValueError, match="a Seq2Seq has no attention to change: its decoder receives only"):
            translate(made("fixed"), SOURCE, VOCAB, length=6, **asked)
    batch = PairBatch.of([sequence_to_sequence(SOURCE, [41], vocab=VOCAB)], pad=0)
    with pytest.raises(ValueError, match="a Seq2Seq has no attention, so there are no cross-attention weights"):
        cross_attention_weights(made("fixed"), batch)


def test_the_model_is_left_as_it_was() -> None:
    model = made("additive").train()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    with pytest.raises(ValueError, match="the model has 60 tokens"):
        translate(model, SOURCE, Vocabulary(70), length=3, fixed_weights={0: [1.0, 1.0, 1.0, 1.0, 1.0]})
    translate(model, SOURCE, VOCAB, length=3, fixed_weights={0: [1.0, 1.0, 1.0, 1.0, 1.0]}, masked=[2])
    assert model.training and not model.cross_attention.weights.open
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())
