"""AT, FAT and Speed Transformer: each equation by hand, the mask, gathering, caches, gradients, parameters."""

from collections.abc import Callable
from dataclasses import replace
from math import exp, sqrt
from typing import Any

import pytest
import torch
from parity.alike import same
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.interpret import watch
from plmlab.layers import slow_attention
from plmlab.layers.slow_attention import SlowAttention
from plmlab.models.autoregressive_transformer import AT
from plmlab.models.fat import FAT, FATConfig
from plmlab.models.seq2seq import Seq2SeqConfig
from plmlab.models.speed_transformer import GatheredSpeedTransformer, SpeedTransformer
from plmlab.models.transformer import Transformer, TransformerConfig
from plmlab.objectives import hybrid_forward_pass, sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask

VOCAB = Vocabulary(60)
SIZE: dict[str, Any] = {"vocab": 60, "time": 9, "layers": 2, "model": 6, "heads": 2, "inner": 10, "dropout": 0.0}
TEXTS = [([41, 45, 41, 52, 41], [45, 50, 41, 50, 50]), ([44, 44], [53, 44, 44]), ([50, 51, 52], [])]
"""Sources and targets of different lengths; some target tokens occur in their source."""
KINDS: dict[str, Callable[[], nn.Module]] = {
    "AT": lambda: AT(Seq2SeqConfig(60, model=6)), "FAT": lambda: FAT(FATConfig(**SIZE)),
    "Speed": lambda: SpeedTransformer(FATConfig(**SIZE)),
    "Gathered": lambda: GatheredSpeedTransformer(FATConfig(**SIZE))}
EVERY = pytest.mark.parametrize("kind", KINDS)

pytestmark = pytest.mark.usefixtures("one_thread")


def shaken(model: nn.Module) -> Any:
    """The model in float64, with random weights large enough to matter."""
    torch.manual_seed(0)
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.8)
    return model.double().eval()


def made(kind: str) -> Any:
    """A small model."""
    return shaken(KINDS[kind]())


def batch(make: Callable[..., Any] = sequence_to_sequence, texts: list[Any] = TEXTS) -> PairBatch:
    """The texts as a padded batch."""
    return PairBatch.of([make(*pair, vocab=VOCAB) for pair in texts], pad=0)


def softmax(values: list[float]) -> list[float]:
    total = sum(map(exp, values))
    return [exp(value) / total for value in values]


def times(matrix: list[list[float]], vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def slow_weights(layer: SlowAttention, q: Tensor, k: Tensor, lengths: list[int], root: bool = True, relu: bool = True,
                 ) -> Tensor:
    """e_ij = ‖ReLU(A q_i + B k_j)‖₂ ∕ √d_key and its softmax over j, one number at a time."""
    a, b = layer.query_map.weight.tolist(), layer.key_map.weight.tolist()
    found = torch.zeros(*q.shape[:3], k.shape[2], dtype=torch.float64)
    for row, length in enumerate(lengths):
        for head in range(q.shape[1]):
            for i, query in enumerate(q[row, head].tolist()):
                scores = []
                for key in k[row, head, :length].tolist():
                    hidden = [x + y for x, y in zip(times(a, query), times(b, key), strict=True)]
                    norm = sqrt(sum((max(x, 0) if relu else x) ** 2 for x in hidden))
                    scores.append(norm / (sqrt(len(query)) if root else 1))
                found[row, head, i, :length] = torch.tensor(softmax(scores), dtype=torch.float64)
    return found


@torch.no_grad()
def test_slow_attention_by_hand() -> None:
    """Three texts of 5, 2 and 3 positions, padded; without the root or the ReLU, the weights differ."""
    layer, lengths = shaken(SlowAttention(6, 2)), [5, 2, 3]
    x = torch.randn(3, 5, 6, dtype=torch.float64)
    mask = AttentionMask(keys=torch.arange(5) < torch.tensor(lengths)[:, None])
    with watch(layer) as seen:
        out = layer(x, mask)
    q, k, v = (seen[name][0] if isinstance(seen[name], list) else seen[name] for name in ("queries", "keys", "values"))
    expected = slow_weights(layer, q, k, lengths)
    same(seen["weights"], expected)
    same(out, layer.out((expected @ v).transpose(1, 2).flatten(2)))
    same(out, layer(x, mask))
    for wrong in ({"root": False}, {"relu": False}):
        assert (slow_weights(layer, q, k, lengths, **wrong) - expected).abs().max() > 1e-3
    assert not seen["weights"][1, :, :, 2:].any()


def test_slow_attention_has_the_gradients_of_finite_differences() -> None:
    q, k = (torch.randn(1, 2, time, 3, dtype=torch.float64, requires_grad=True) for time in (3, 4))
    layer = shaken(SlowAttention(6, 2))
    assert torch.autograd.gradcheck(lambda *given: layer.score(*given), (q, k))
    zero = torch.full((1, 1, 1, 3), -1.0, requires_grad=True)
    slow_attention.relu_norms(zero, zero).sum().backward()
    assert zero.grad is not None and not zero.grad.any()  # a norm of 0 has the gradient 0, not NaN


@pytest.mark.parametrize("most", [1, 100])
def test_slow_attention_in_parts_is_that_of_all_queries(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one query at a time, and with two of five."""
    layer, x, found = shaken(SlowAttention(6, 2)), torch.randn(3, 5, 6, dtype=torch.float64), []
    for numbers in (slow_attention.MOST_NUMBERS, most):
        monkeypatch.setattr(slow_attention, "MOST_NUMBERS", numbers)
        layer.zero_grad()
        out = layer(x, AttentionMask())
        out.square().sum().backward()
        found.append([out.detach(), *(weight.grad.clone() for weight in layer.parameters())])
    for one, other in zip(*found, strict=True):
        same(one, other)


@torch.no_grad()
def test_the_connected_softmax_by_hand() -> None:
    """softmax(q_μ · k_ν + U_μν + b) over ν ≤ μ in the first layer of the decoder; b changes nothing, U does."""
    model, given = made("FAT"), batch()
    with watch(model) as seen:
        before = model(given)
    point = "decoder.layers.0.attention."
    q, k = seen[f"{point}queries"], seen[f"{point}keys"]
    for row, (_, target) in enumerate(TEXTS):
        for head in range(2):
            for at in range(1 + len(target)):
                scores = [float(q[row, head, at] @ k[row, head, key] + model.decoder.pairs[at, key]) for key in
                          range(at + 1)]
                weights = torch.tensor(softmax(scores), dtype=torch.float64)
                same(seen[f"{point}weights"][row, head, at, :at + 1], weights)
                assert not seen[f"{point}weights"][row, head, at, at + 1:].any()
    model.decoder.constant += 3
    same(model(given), before)
    model.decoder.pairs[1, 0] += 3
    assert (model(given) - before).abs().max() > 1e-3


@torch.no_grad()
def test_fat_differs_from_the_transformer_in_its_scores_only() -> None:
    """With A = B = 0, all scores of the encoder and of the cross-attention are equal; a Transformer whose queries are 0
    has the same, and with U = 0, the unscaled scores are those of a Transformer with queries √d_k times as large."""
    fat, plain = made("FAT"), shaken(Transformer(TransformerConfig(**{k: v for k, v in SIZE.items() if k != "time"})))
    own = {name: weight.clone() for name, weight in fat.state_dict().items()}
    plain.load_state_dict({name: own[name] for name in plain.state_dict()})
    given = batch()
    assert (fat(given) - plain(given)).abs().max() > 1e-3
    fat.decoder.pairs.zero_()
    for name, module in fat.named_modules():
        if isinstance(module, SlowAttention):
            module.query_map.weight.zero_()
            module.key_map.weight.zero_()
            plain.get_submodule(name).q.weight.zero_()
            plain.get_submodule(name).q.bias.zero_()
    for layer in plain.decoder.layers:
        layer.attention.q.weight *= sqrt(3)
        layer.attention.q.bias *= sqrt(3)
    same(fat(given), plain(given))


def at_by_hand(model: AT, given: PairBatch, product: bool = True, shift: bool = True) -> list[Tensor]:
    """w̃ and Eq. 1 as repaired, one number at a time, from the outputs of the two LSTMs."""
    memory, carried = model.read(given.source)
    words, found = model.token(given.target.tokens), []
    outputs = model.decoder(words, None, carried)[0]
    named = {name: weight.tolist() for name, weight in model.named_parameters()}
    for row, (source, target) in enumerate(TEXTS):
        states = [carried[0][-1][row].tolist(), *outputs[row].tolist()][0 if shift else 1:]
        for h, y in zip(states[:1 + len(target)], words[row].tolist(), strict=False):
            scores = []
            for h_j in memory[row, :len(source) + 1].tolist():
                sums = zip(times(named["cross_attention.state.weight"], h), named["cross_attention.state.bias"],
                           times(named["cross_attention.word.weight"], y),
                           times(named["cross_attention.source.weight"], h_j), strict=True)
                scores.append(times(named["cross_attention.vote.weight"], [max(0.0, sum(one)) for one in sums])[0])
            context = [sum(w * x for w, x in zip(softmax(scores), column, strict=True))
                       for column in memory[row, :len(source) + 1].T.tolist()]
            inner = times(named["combine.weight"], [c * e if product else c for c, e in zip(context, y, strict=True)])
            logits = [x + b for x, b in zip(times(named["output.weight"], [max(0.0, x) for x in inner]),
                                            named["output.bias"], strict=True)]
            found.append(torch.tensor(logits, dtype=torch.float64))
    return found


@torch.no_grad()
def test_at_by_hand() -> None:
    """Without the product with E(y), or with h_t instead of h_{t−1}, the logits differ."""
    model, given = made("AT"), batch()
    ours = model(given)[given.targets != IGNORE]
    same(ours, torch.stack(at_by_hand(model, given)))
    for wrong in ({"product": False}, {"shift": False}):
        assert (ours - torch.stack(at_by_hand(model, given, **wrong))).abs().max() > 1e-4


@EVERY
def test_generation_gives_the_logits_of_the_whole_target(kind: str) -> None:
    """One token at a time, also after rows were exchanged; padding on the source changes nothing."""
    model, given = made(kind), batch()
    with torch.no_grad():
        whole, state, rows = model(given), model.start(given.source), torch.tensor([2, 0, 0])
        real = given.targets != IGNORE
        first, second = (model.step(given.target.tokens[:, t:t + 1], state) for t in range(2))
        same(first, whole[:, 0])
        same(second[real[:, 1]], whole[real[:, 1], 1])
        state.select(rows)
        for t in range(2, 6):
            found = model.step(given.target.tokens[rows, t:t + 1], state)
            same(found[1:], whole[rows, t][1:])
        alone = model(batch(texts=TEXTS[1:2]))
        same(alone, whole[1:2, :alone.shape[1]])


@EVERY
def test_a_target_has_no_influence_on_earlier_positions(kind: str) -> None:
    model, given = made(kind), batch()
    tokens = given.target.tokens.clone()
    tokens[0, 3] = 52
    changed = replace(given, target=replace(given.target, tokens=tokens))
    with torch.no_grad():
        before, after = model(given), model(changed)
    same(before[0, :3], after[0, :3])
    assert (before[0, 3:] - after[0, 3:]).abs().max() > 1e-6


@EVERY
def test_every_weight_has_a_gradient(kind: str) -> None:
    """That of b is 0 but for rounding: it is added to all scores."""
    model = made(kind)
    model.train().loss(batch()).backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None and weight.grad.any(), name
    if kind != "AT":
        assert abs(float(model.decoder.constant.grad)) < 1e-12


def test_skipped_positions_are_constant_and_have_no_influence() -> None:
    """Tokens 50 and 53 do not occur in their sources; another token that does not occur there changes nothing."""
    model, given = made("Speed"), batch()
    with torch.no_grad():
        logits = model(given)
        same(logits[0, 2], logits[0, 4])
        same(logits[0, 2], logits[1, 1])
        assert (logits[0, 0] - logits[0, 2]).abs().max() > 1e-3  # [START] is kept
        tokens = given.target.tokens.clone()
        tokens[0, 2], tokens[1, 1] = 57, 58
        same(model(replace(given, target=replace(given.target, tokens=tokens))), logits)
        state = model.encode(given.source, given.cross)
        for _ in range(2):  # a state can be used again
            same(model.logits(given.target, state), logits)


def test_the_mask_of_the_model_is_that_of_the_objective() -> None:
    """Which alone is not enough: without zero embeddings, a skipped position still depends on its token."""
    model, given, masked = made("Speed"), batch(), batch(hybrid_forward_pass)
    pair = hybrid_forward_pass(*TEXTS[0], vocab=VOCAB)
    kept = [0, 1, 3]  # [START], 45 and 41
    expected = torch.zeros(6, 6, dtype=torch.bool)
    for q in kept:
        expected[q, [k for k in kept if k <= q]] = True
    assert torch.equal(pair.target.visible.dense(), expected)
    assert pair.cross.dense().any(1).tolist() == [t in kept for t in range(6)] and pair.cross.dense()[kept].all()
    assert "skipped" in pair.target.visible.reason(2, 0) and "leak" in pair.target.visible.reason(1, 3)
    fat = made("FAT")
    with torch.no_grad():
        same(model(given), model(masked))
        fat.load_state_dict(model.state_dict())
        assert (fat(masked)[0, 2] - fat(masked)[0, 4]).abs().max() > 1e-3


@pytest.mark.parametrize("texts", [TEXTS, [([41], [50, 50, 50]), ([42], [51])], [([41, 42], [41, 42, 42])], TEXTS[2:]],
                         ids=["some", "none", "all", "empty"])
def test_gathering_gives_the_outputs_and_gradients_of_masking(texts: list[Any]) -> None:
    """Where some, none or all target tokens occur in the source; at padding, outputs have no meaning."""
    masking, given, found = made("Speed"), batch(texts=texts), []
    gathering = made("Gathered")
    gathering.load_state_dict(masking.state_dict())
    real = given.targets != IGNORE
    same(masking(given)[real], gathering(given)[real])
    for model in (masking, gathering):
        model.loss(given).backward()
        found.append([weight.grad for weight in model.parameters()])
    for one, other in zip(*found, strict=True):
        same(one, other)


def test_gathering_computes_fewer_rows() -> None:
    """Of six positions, [START], 45 and 41 are kept; with one row for the constant, four are computed."""
    model, given = made("Gathered"), batch(texts=TEXTS[:1])
    with watch(model) as seen, torch.no_grad():
        model(given)
    assert seen["decoder.layers.0.hidden"].shape[1] == 4


def count(model: nn.Module) -> int:
    return sum(weight.numel() for weight in model.parameters())


def test_parameters_by_hand() -> None:
    """Of a Transformer, with A and B in every slow attention, and U and b once."""
    vocab, model, inner, layers, width, time = 60, 6, 10, 2, 3, 9
    attention, norm, feed_forward = 4 * (model**2 + model), 2 * model, 2 * model * inner + inner + model
    encoder = layers * (attention + 2 * width**2 + feed_forward + 2 * norm)
    decoder = layers * (2 * attention + 2 * width**2 + feed_forward + 3 * norm) + time**2 + 1
    assert count(made("FAT")) == count(made("Speed")) == vocab * model + encoder + decoder
    lstm = 4 * model * (2 * model + 2)
    assert count(made("AT")) == vocab * model + 2 * lstm + (3 * model**2 + 2 * model) + model**2 + vocab * (model + 1)


def test_a_target_that_is_longer_than_u_is_refused() -> None:
    model = made("FAT")
    with pytest.raises(ValueError, match="a target of 10 tokens is too long: U has 9 positions"):
        model(batch(texts=[([41], [42] * 9)]))
    assert model(batch(texts=[([41] * 30, [42] * 8)])).shape == (1, 9, 60)
    state = model.start(Batch.of([sequence_to_sequence([41], [], vocab=VOCAB).source], pad=0))
    with pytest.raises(ValueError, match="a target of 10 tokens"), torch.no_grad():
        for _ in range(10):
            model.step(torch.tensor([[42]]), state)
