"""The KAR: each of its seven steps by loops and by PyTorch's own layers, figures of the authors' code, its losses by
hand, and what neither padding nor another text may change."""

import math
from dataclasses import replace

import pytest
import torch
from realm_small import same, scattered, softmax
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.candidates import NULL, CandidateMention, Candidates
from plmlab.example import IGNORE
from plmlab.interpret.watching import watch
from plmlab.layers.kar import KAR, LINKERS, EntityLinker, MarginEntityLinker, SpanAttentionLayer
from plmlab.layers.shape import LayerShape

HIDDEN, WIDTH, HEADS, INNER, ENTITIES, TIME = 12, 8, 4, 16, 9, 6
SHAPE = LayerShape(WIDTH, HEADS, INNER, "gelu", 0.0, 0.0, 1e-12)
TEXTS = [[CandidateMention(0, 2, (2, 3, 4), (0.5, 0.3, 0.2), 3), CandidateMention(1, 2, (5,), (1.0,), NULL),
          CandidateMention(3, 6, (6, 2), (0.6, 0.4), 2)],
         [CandidateMention(3, 4, (7, 6, 5, 4), (0.4, 0.3, 0.2, 0.1), 4)]]
"""Spans that overlap, one candidate, and texts with different numbers of mentions and candidates."""
both = pytest.mark.parametrize("linker", LINKERS.values())


def wave(shape: tuple[int, ...], number: int) -> Tensor:
    """Numbers that anyone can compute: sin((0.3 + 0.1 n) i + n)."""
    size = math.prod(shape)
    return torch.sin(torch.arange(size, dtype=torch.double) * (0.3 + 0.1 * number) + number).reshape(shape)


STATES = 2 * wave((2, TIME, HIDDEN), 60)


def kar(linker: type[EntityLinker] = EntityLinker, seed: int = 3) -> KAR:
    made = scattered(KAR(HIDDEN, ENTITIES, SHAPE, linker), seed)
    made.linker.vectors.copy_(wave((ENTITIES, WIDTH), 50))
    return made


def waves(linker: type[EntityLinker], shift: float) -> KAR:
    """A KAR whose weights are waves, in the order of their names, and whose scores are shifted."""
    made = KAR(HIDDEN, ENTITIES, SHAPE, linker).double().eval()
    with torch.no_grad():
        for number, (name, weight) in enumerate(sorted(made.named_parameters())):
            weight.copy_(wave(tuple(weight.shape), number) / 2 + name.endswith("norm.weight"))
        made.linker.scorer[2].bias.fill_(shift)
        made.linker.vectors.copy_(wave((ENTITIES, WIDTH), 50))
    return made


def theirs(layer: SpanAttentionLayer) -> nn.TransformerDecoderLayer:
    """PyTorch's layer with the same weights: its cross-attention, and as if its self-attention gave nothing."""
    made = nn.TransformerDecoderLayer(WIDTH, HEADS, INNER, 0.0, F.gelu, 1e-12, batch_first=True).double().eval()
    attention = made.multihead_attn
    with torch.no_grad():
        parts = layer.to_spans.q, layer.to_spans.k, layer.to_spans.v
        attention.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        attention.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    for ours, other in ((layer.to_spans.out, attention.out_proj), (layer.attention_residual.norm, made.norm2),
                        (layer.feed_forward.up, made.linear1), (layer.feed_forward.down, made.linear2),
                        (layer.feed_forward_residual.norm, made.norm3)):
        other.load_state_dict(ours.state_dict())
    made.norm1, made._sa_block = nn.Identity(), lambda x, *_, **__: torch.zeros_like(x)  # type: ignore[assignment]
    return made


class ByHand:
    """The seven steps for one text, mention by mention and candidate by candidate."""

    def __init__(self, made: KAR, hidden: Tensor, mentions: list[CandidateMention]) -> None:
        linker, root = made.linker, math.sqrt(WIDTH)
        self.projected = [linker.project.weight @ state + linker.project.bias for state in hidden]  # 1
        self.pooled, self.scores, self.weights, entity_spans = [], [], [], []
        for mention in mentions:  # 2
            span = self.projected[mention.start:mention.end]
            shares = softmax([float(linker.pooling.weight[0] @ state + linker.pooling.bias) for state in span])
            self.pooled.append(linker.span_norm(sum(share * state for share, state in zip(shares, span, strict=True))))
        rows = torch.stack(self.pooled)[None]
        spans = theirs(linker.span_layer)(rows, rows)[0]  # 3
        for mention, span in zip(mentions, spans, strict=True):
            vectors = [linker.entity_norm(linker.vectors[entity]) for entity in mention.entities]
            self.scores.append([])
            for vector, prior in zip(vectors, mention.priors, strict=True):  # 4
                pair = torch.tensor([float(span @ vector) / root, float(torch.tensor(prior))], dtype=torch.double)
                inner = (linker.scorer[0].weight @ pair + linker.scorer[0].bias).clamp(min=0)
                self.scores[-1].append(float(linker.scorer[2].weight[0] @ inner + linker.scorer[2].bias))
            least = -math.inf if linker.threshold is None else linker.threshold
            some = [score for score in self.scores[-1] if score >= least]
            total = sum(map(math.exp, some))
            self.weights.append([math.exp(score) / total if score >= least else 0.0 for score in self.scores[-1]])
            mean = sum(share * vector for share, vector in zip(self.weights[-1], vectors, strict=True))
            entity_spans.append(linker.entity_span_norm(span + (mean if some else linker.vectors[NULL])))  # 5
        words = theirs(made.word_layer)(torch.stack(self.projected)[None], torch.stack(entity_spans)[None])[0]  # 6
        self.output = [made.norm(state + made.back.weight @ word + made.back.bias)  # 7
                       for state, word in zip(hidden, words, strict=True)]


@both
@pytest.mark.parametrize("seed", [3, 4, 5])
@torch.no_grad()
def test_the_seven_steps_by_loops(linker: type[EntityLinker], seed: int) -> None:
    """All texts in one batch, against each alone."""
    made, mentions = kar(linker, seed), Candidates.of(TEXTS)
    made.linker.scorer[2].bias -= made(STATES, mentions)[1][mentions.candidate_mask].sort().values[4:6].mean()
    with watch(made) as seen:
        output, scores = made(STATES, mentions)
    projected = made.linker.project(STATES)
    pooled, below = made.linker.pool(projected, mentions), 0
    for i, some in enumerate(TEXTS):
        expected = ByHand(made, STATES[i], some)
        same(projected[i], torch.stack(expected.projected))
        same(pooled[i, :len(some)], torch.stack(expected.pooled))
        for k, mention in enumerate(some):
            count = len(mention.entities)
            assert scores[i, k, :count].tolist() == pytest.approx(expected.scores[k], abs=1e-9)
            assert seen["linker.weights"][i, k].tolist() == pytest.approx([*expected.weights[k], *[0.0] * (4 - count)])
            below += sum(score < 0 for score in expected.scores[k])
            best = max(range(count), key=lambda i, k=k: expected.weights[k][i])
            assert int(made.linker.predicted(scores, mentions)[i, k]) == (
                mention.entities[best] if any(expected.weights[k]) else NULL)
        same(output[i], torch.stack(expected.output))
    assert below == 5, "of ten candidates, so that the threshold matters"


@pytest.mark.parametrize(("linker", "shift", "loss", "first", "last"), [
    (MarginEntityLinker, 0.0, 0.42990107545, [-1.36136, 0.17901, -0.74941, 0.57394],
     [-1.5972, 0.02762, -0.87027, 0.42989]),
    (MarginEntityLinker, -2.0, 0.59963596226, [-1.36174, 0.17929, -0.75036, 0.5737],
     [-1.58291, 0.05527, -0.88332, 0.44244]),
    (MarginEntityLinker, 1.0, 1.05210412457, [-1.34272, 0.17317, -0.7457, 0.56453],
     [-1.56351, 0.03205, -0.86337, 0.42684]),
    (EntityLinker, 0.0, 0.83747956106, [-1.34272, 0.17317, -0.7457, 0.56453], [-1.56351, 0.03205, -0.86337, 0.42684]),
])
@torch.no_grad()
def test_figures_of_the_authors_code(linker: type[EntityLinker], shift: float, loss: float, first: list[float],
                                     last: list[float]) -> None:
    """SolderedKG of allenai/kb with these weights, run beside: with scores on both sides of the threshold, all below
    it, and all above it; with the loss of the log-likelihood, the second mention has the gold entity 5."""
    texts = TEXTS if linker is MarginEntityLinker else [[TEXTS[0][0], TEXTS[0][1]._replace(gold=5), TEXTS[0][2]],
                                                       TEXTS[1]]
    made, mentions = waves(linker, shift), Candidates.of(texts)
    output, scores = made(STATES, mentions)
    assert scores[0, 0].tolist()[:3] == pytest.approx([-0.05651 + shift, -0.21293 + shift, 0.93634 + shift], abs=1e-5)
    assert scores[1, 0].tolist() == pytest.approx([x + shift for x in (-0.20837, -0.16558, 0.90245, 0.97324)], abs=1e-5)
    assert output[0, 0, :4].tolist() == pytest.approx(first, abs=1e-5)
    assert output[1, 5, :4].tolist() == pytest.approx(last, abs=1e-5)
    assert float(made.linker.loss(scores, mentions)) == pytest.approx(loss, abs=1e-10)


def test_the_projection_back_begins_as_the_pseudo_inverse() -> None:
    """W₂W₁ projects onto the row space of W₁: idempotent, symmetric, of rank E; on it, the way there and back is the
    identity, also with a bias. No inverse of W₁ᵀW₁ exists."""
    made = KAR(HIDDEN, ENTITIES, SHAPE).double()
    there, back = made.linker.project, made.back
    with torch.no_grad():
        same(there.weight @ back.weight, torch.eye(WIDTH).double(), 1e-4)
        there.bias.copy_(wave((WIDTH,), 1))
        made.align()
        round_trip = back.weight @ there.weight
        same(round_trip @ round_trip, round_trip)
        same(round_trip, round_trip.T)
        same(back.weight, there.weight.T @ torch.linalg.inv(there.weight @ there.weight.T))
        assert int(torch.linalg.matrix_rank(there.weight.T @ there.weight)) == WIDTH < HIDDEN
        same(back(there(STATES)), STATES @ round_trip)


def test_without_attention_a_new_kar_adds_the_projected_states_to_themselves() -> None:
    """With the two sublayers of step 6 silent, a KAR is LayerNorm(h + W₂W₁h): on the row space, LayerNorm(h)."""
    made = KAR(HIDDEN, ENTITIES, SHAPE).double().eval()
    made.align()
    with torch.no_grad():
        for silent in (made.word_layer.to_spans.out, made.word_layer.feed_forward.down):
            silent.weight.zero_()
        made.word_layer.attention_residual.norm = made.word_layer.feed_forward_residual.norm = nn.Identity()
        inside = STATES @ (made.back.weight @ made.linker.project.weight)
        same(made(STATES, Candidates.of(TEXTS))[0], F.layer_norm(STATES + inside, (HIDDEN,)), 1e-9)
        same(made(inside, Candidates.of(TEXTS))[0], F.layer_norm(inside, (HIDDEN,), eps=1e-5 / 4), 1e-9)


@both
@torch.no_grad()
def test_padding_on_either_side_changes_nothing(linker: type[EntityLinker]) -> None:
    """More positions in front or behind, with other hidden states there, more mentions and more candidates."""
    made, mentions, far = kar(linker), Candidates.of(TEXTS), 5 * wave((2, 3, HIDDEN), 70)
    plain, _ = made(STATES, mentions)
    same(made(torch.cat([STATES, far], 1), mentions)[0][:, :TIME], plain)
    moved = replace(mentions, spans=mentions.spans + 3 * mentions.mask[..., None].long())
    same(made(torch.cat([far, STATES], 1), moved)[0][:, 3:], plain)
    crowd = Candidates.of([*TEXTS, [CandidateMention(1, 5, (2, 3, 4, 5, 6, 7), (1.0,) * 6)] * 5])
    same(made(torch.cat([STATES, far[:1].repeat(1, 2, 1)]), crowd)[0][:2], plain)
    assert not torch.allclose(made(STATES, Candidates.of(TEXTS[::-1]))[0], plain, atol=1e-3)


@both
@torch.no_grad()
def test_a_text_without_mentions_attends_to_nothing(linker: type[EntityLinker]) -> None:
    """Alone, or beside a text with mentions: the words' attention to spans is zero, so only its bias is left."""
    made = kar(linker)
    alone, _ = made(STATES[:1], Candidates.of([[]]))
    beside, _ = made(STATES, Candidates.of([[], TEXTS[1]]))
    layer, words = made.word_layer, made.linker.project(STATES[0])
    words = layer.attention_residual.norm(words + layer.to_spans.out.bias)
    words = layer.feed_forward_residual.norm(words + layer.feed_forward(words[None])[0])
    expected = made.norm(STATES[0] + made.back(words))
    same(alone[0], expected)
    same(beside[0], expected)
    nothing = Candidates.of([[], []])
    _, scores = made(STATES, nothing)
    assert float(made.linker.loss(scores, nothing)) == 0
    assert made.linker.predicted(scores, nothing).tolist() == [[NULL]] * 2


PSI = torch.tensor([[[1.5, -0.5, 0.05, 9.0], [0.1, 9.0, 9.0, 9.0], [-0.1, -0.3, 9.0, 9.0]],
                    [[0.0, 2.0, -1.0, 0.15], [9.0] * 4, [9.0] * 4]]).double()
"""Scores of the candidates of TEXTS; 9 is padding."""


def test_both_hinges_by_hand() -> None:
    """γ = 0.2. Gold: 3 of (2, 3, 4); NULL, no candidate, of (5); 2 of (6, 2); 4 of (7, 6, 5, 4)."""
    linker, mentions = MarginEntityLinker(HIDDEN, ENTITIES, SHAPE), Candidates.of(TEXTS)
    first = (0.2 + 1.5) + (0.2 + 0.5) + (0.2 + 0.05)
    second, third = 0.2 + 0.1, (0.2 - 0.1) + (0.2 + 0.3)
    fourth = (0.2 + 0.0) + (0.2 + 2.0) + 0.0 + (0.2 - 0.15)
    assert float(linker.loss(PSI, mentions)) == pytest.approx((first + second + third + fourth) / 10)
    unknown = Candidates.of([[TEXTS[0][0]._replace(gold=IGNORE), TEXTS[0][1], TEXTS[0][2]], TEXTS[1]])
    assert float(linker.loss(PSI, unknown)) == pytest.approx((second + third + fourth) / 7)
    with_null = Candidates.of([[CandidateMention(0, 1, (2, NULL), (1.0, 0.0), NULL)]])
    psi = torch.tensor([[[0.3, -0.4]]])
    assert float(linker.loss(psi, with_null)) == pytest.approx(((0.2 + 0.3) + (0.2 + 0.4)) / 2)
    assert linker.kept(PSI, mentions)[1, 0].tolist() == [True, True, False, True], "δ itself is enough"


def test_the_log_likelihood_by_hand() -> None:
    """The second mention is left out, because its gold entity is not a candidate."""
    linker, mentions = EntityLinker(HIDDEN, ENTITIES, SHAPE), Candidates.of(TEXTS)
    logs = [math.log(softmax(scores)[gold]) for scores, gold in (
        ([1.5, -0.5, 0.05], 1), ([-0.1, -0.3], 1), ([0.0, 2.0, -1.0, 0.15], 3))]
    assert float(linker.loss(PSI, mentions)) == pytest.approx(-sum(logs) / 3)
    single = Candidates.of([[CandidateMention(0, 1, (5,), (1.0,), 5)]])
    assert float(linker.loss(torch.tensor([[[-7.0]]]), single)) == 0


@both
def test_gradients_reach_every_weight_and_never_the_vectors(linker: type[EntityLinker]) -> None:
    made, mentions = kar(linker).train(), Candidates.of(TEXTS)
    with torch.no_grad():
        made.linker.scorer[2].bias += 2 - made(STATES, mentions)[1].min()
    output, scores = made(STATES, mentions)
    (output.square().sum() + made.linker.loss(scores, mentions)).backward()
    assert "linker.vectors" not in dict(made.named_parameters()) and "linker.vectors" in made.state_dict()
    assert not made.linker.vectors.requires_grad and made.linker.vectors.grad is None
    for name, weight in made.named_parameters():
        constant = ("pooling.bias", ".k.bias", *(["scorer.2.bias"] if linker is EntityLinker else []))
        assert (float(weight.grad.abs().max()) < 1e-12) == name.endswith(constant), "a softmax ignores a constant"
