"""Attention that stands between two texts alone, one head and no layers: its map, its arithmetic, its ablation."""

import copy
import json
import re
from math import exp, tanh

import pytest
import torch
from small_models import CLOSE, SIZE, TEXT, WORDS, seeded, tables, weights_of
from torch import Tensor, nn

from plmlab.example import PairBatch
from plmlab.interpret.ablation import Ablation, attentions_of
from plmlab.interpret.alignments import cross_attention_weights
from plmlab.interpret.attention_maps import attention_maps
from plmlab.interpret.distances import divergence
from plmlab.interpret.forward_pass import forward_pass
from plmlab.labs.attention.lab import AttentionLab
from plmlab.labs.bertviz.lab import head_view, model_view
from plmlab.models.seq2seq import (
    AdditiveSeq2Seq,
    BidirectionalSeq2Seq,
    DotSeq2Seq,
    GeneralSeq2Seq,
    Seq2Seq,
    Seq2SeqConfig,
)
from plmlab.objectives import sequence_to_sequence

SECOND = "a bank of the river"
KINDS = [DotSeq2Seq, GeneralSeq2Seq, BidirectionalSeq2Seq, AdditiveSeq2Seq]
every_kind = pytest.mark.parametrize("kind", KINDS)
SOURCE_POSITIONS, TARGET_POSITIONS = [*TEXT.split(), "[END]"], ["[START]", *SECOND.split()]


def made(kind: type[Seq2Seq]) -> nn.Module:
    return seeded(kind(Seq2SeqConfig(SIZE, layers=2, model=8)))


def batch() -> PairBatch:
    return PairBatch.of([sequence_to_sequence(WORDS.encode(TEXT), WORDS.encode(SECOND), vocab=WORDS.vocab)], pad=0)


@every_kind
def test_there_is_one_map_and_it_is_what_the_decoder_looks_at(kind: type[Seq2Seq]) -> None:
    model = made(kind)
    (found,) = attention_maps(model, WORDS, TEXT, SECOND)
    assert (found.name, found.queries, found.keys) == ("cross", TARGET_POSITIONS, SOURCE_POSITIONS)
    assert [weights.shape for weights in found.weights] == [(1, 6, 6)]
    torch.testing.assert_close(found.weights[0][0], cross_attention_weights(model, batch())[0], **CLOSE)
    assert found.visible.dense().all() and "all of the source" in found.visible.reason(0, 3)
    longer, = attention_maps(model, WORDS, "the man", SECOND)
    assert longer.weights[0].shape == (1, 6, 3)


def test_points_at_the_top_are_found() -> None:
    assert attentions_of(["cross_attention.weights", "encoder.layers.0.hidden"]) == {
        "encoder": [], "decoder": [], "cross": ["cross_attention"]}


@every_kind
def test_bertviz_draws_the_cross_map_alone(kind: type[Seq2Seq]) -> None:
    model = made(kind)
    (found,) = attention_maps(model, WORDS, TEXT, SECOND)
    for draw, name in ((head_view, "head view"), (model_view, "model view")):
        view = draw(model, WORDS, TEXT, SECOND)
        assert repr(view) == f"<bertviz {name}: 1 layer × 1 head, 6 tokens → 6 tokens>"
        (part,) = json.loads(re.search(r"const params = (.*);\n", view.html()).group(1))["attention"]
        assert (part["name"], part["left_text"], part["right_text"]) == ("Cross", TARGET_POSITIONS, SOURCE_POSITIONS)
        torch.testing.assert_close(torch.tensor(part["attn"])[0], found.weights[0], rtol=0, atol=0.00051)
        assert repr(draw(model, WORDS, "the man", SECOND)).endswith("3 tokens → 6 tokens>")
        with pytest.raises(ValueError, match=r"heads \[1\] were requested; this model has heads 0 … 0"):
            draw(model, WORDS, TEXT, SECOND, heads=[1])
    for draw in (head_view, model_view):
        with pytest.raises(ValueError, match="a Seq2Seq has no attention to show: its decoder receives only"):
            draw(made(Seq2Seq), WORDS, TEXT, SECOND)


def states(model: nn.Module) -> tuple[Tensor, Tensor]:
    """The decoder's state that looks at each position and what the encoder shows at each, by torch's own LSTM."""
    sides = []
    for side, ways, tokens in ((model.encoder, 1 + model.bidirectional, batch().source.tokens),
                               (model.decoder, 1, batch().target.tokens)):
        theirs = nn.LSTM(side.cells[0].weight_ih.shape[1], 8 // ways, 2, batch_first=True, bidirectional=ways == 2)
        theirs.load_state_dict({f"{name}_l{place // ways}" + "_reverse" * (place % ways): weight
                                for place, cell in enumerate(side.cells) for name, weight in cell.named_parameters()})
        sides.append((theirs, model.token.weight[tokens]))
    (encoder, source), (decoder, target) = sides
    memory, last = encoder(source)
    carried = tuple(torch.stack([torch.cat(list(layer), -1) for layer in vectors.split(1 + model.bidirectional)])
                    for vectors in last)
    if not isinstance(model, AdditiveSeq2Seq):
        return decoder(target, carried)[0][0], memory[0]
    looking = []
    for word in target[0]:
        looking.append(carried[0][-1, 0])
        scores = model.cross_attention.score(looking[-1][None, None], model.cross_attention.source(memory))
        context = scores[0, 0].softmax(-1) @ memory[0]
        carried = decoder(torch.cat([word, context])[None, None], carried)[1]
    return torch.stack(looking), memory[0]


@every_kind
@torch.no_grad()
def test_the_lab_s_arithmetic_of_a_cell_is_the_model_s(kind: type[Seq2Seq]) -> None:
    model = made(kind)
    lab = AttentionLab(model, WORDS, TEXT, SECOND)
    assert (lab.message, lab.stale, lab.menu["two"]) == ("", False, True)
    assert [(m["name"], m["size"]) for m in lab.state["maps"]] == [("cross", [1, 1])]
    assert repr(lab) == f"<AttentionLab: {kind.__name__}, 1 layer × 1 head: {' '.join(TARGET_POSITIONS)}>"
    found, (queries, memory) = tables(lab), states(model)
    torch.testing.assert_close(found["q"], queries, **CLOSE)
    torch.testing.assert_close(found["v"], memory, **CLOSE)
    scores, own = torch.zeros(6, 6), model.cross_attention
    for i, s in enumerate(queries.tolist()):
        for j, h in enumerate(memory):
            if kind is AdditiveSeq2Seq:
                left, right, vote = own.state.weight @ torch.tensor(s), own.source.weight @ h, own.vote.weight[0]
                scores[i, j] = sum(v * tanh(a + b) for v, a, b in zip(vote, left, right, strict=True))
            else:
                key = h if kind is DotSeq2Seq else own.source.weight @ h
                scores[i, j] = sum(a * b for a, b in zip(s, key, strict=True))
    torch.testing.assert_close(found["scores"], scores, **CLOSE)
    row = [exp(score) for score in scores[2].tolist()]
    torch.testing.assert_close(found["weights"][2], torch.tensor([part / sum(row) for part in row]), **CLOSE)
    torch.testing.assert_close(weights_of(lab)[0, 0].float(), found["weights"], rtol=0, atol=2e-5)
    torch.testing.assert_close(found["weights"] @ found["v"], found["mixed"], **CLOSE)
    if kind is AdditiveSeq2Seq:
        assert lab.detail["scale"] is None and lab.detail["formula"].startswith("vᵀ tanh(W q + k)")
        again = torch.tanh((found["q"] @ own.state.weight.T)[:, None] + found["k"]) @ own.vote.weight[0]
    else:
        assert lab.detail["scale"] == 1 and lab.detail["formula"] == "q·k"
        again = found["q"] @ found["k"].T
    torch.testing.assert_close(again, found["scores"], **CLOSE)


@every_kind
@torch.no_grad()
def test_without_its_head_the_context_is_zero(kind: type[Seq2Seq]) -> None:
    model = made(kind)
    lab = AttentionLab(model, WORDS, TEXT, SECOND)
    lab.off = [["cross", 0, 0]]
    blind = copy.deepcopy(model)
    blind.combine.weight[:, :8] = 0
    if kind is AdditiveSeq2Seq:
        blind.decoder.cells[0].weight_ih[:, 8:] = 0
    before, after = model(batch())[0], blind(batch())[0]
    change = lab.state["change"]
    assert change["kind"] == "next" and change["tokens"] == TARGET_POSITIONS
    assert change["positions"] == pytest.approx(divergence(before, after).tolist(),
                                                abs=1e-5) and min(change["positions"]) > 0
    assert not tables(lab)["mixed"].any()
    lab.off = []
    assert lab.state["change"] is None


@every_kind
@torch.no_grad()
def test_a_closed_cell_is_closed_at_its_own_position_alone(kind: type[Seq2Seq]) -> None:
    model = made(kind)
    free = forward_pass(model, WORDS, TEXT, SECOND)
    closed = forward_pass(model, WORDS, TEXT, SECOND, ablation=Ablation(closed=(("cross", 2, 1), ("cross", 4, 0))))
    one, other = free.map("cross").weights[0][0], closed.map("cross").weights[0][0]
    assert other[2, 1] == other[4, 0] == 0 and (other > 0).sum() == 34
    torch.testing.assert_close(other[:2], one[:2], **CLOSE)
    torch.testing.assert_close(other.sum(-1), torch.ones(6), **CLOSE)
    left = one[2].clone()
    left[1] = 0
    torch.testing.assert_close(other[2], left / left.sum(), **CLOSE)
    torch.testing.assert_close(closed.logits[:2], free.logits[:2], **CLOSE)
    assert (closed.logits[2] - free.logits[2]).abs().max() > 1e-3
    nowhere = forward_pass(model, WORDS, TEXT, SECOND,
                           ablation=Ablation(closed=tuple(("cross", 3, key) for key in range(6))))
    assert not nowhere.head("cross", 0, 0).mixed[3].any() and nowhere.logits.isfinite().all()
    for cell in ((6, 0), (0, 6), (-1, 0)):
        with pytest.raises(ValueError, match=rf"no cell \({cell[0]}, {cell[1]}\) in a map of 6 queries × 6 keys"):
            forward_pass(model, WORDS, TEXT, SECOND, ablation=Ablation(closed=(("cross", *cell),)))


def test_what_cannot_be_is_said_in_the_readers_words() -> None:
    lab = AttentionLab(made(Seq2Seq), WORDS, TEXT, SECOND)
    assert lab.message == ("a Seq2Seq has no attention to show: its decoder receives only the encoder's "
                           "last state")
    lab = AttentionLab(made(AdditiveSeq2Seq), WORDS, TEXT)
    assert "as the second" in lab.message
    lab.second = SECOND
    assert (lab.message, lab.stale) == ("", False)
    lab.off = [["encoder", 0, 0]]
    said = "cannot switch off heads in layer 0 of 'encoder'; this model has 'cross' layers 0 … 0"
    assert lab.stale and lab.message == said
    lab.off = []
    lab.text = "the wombat saw"
    assert "not in this tokenizer's vocabulary" in lab.message, "of the source too"
    assert forward_pass(made(DotSeq2Seq), WORDS, TEXT, SECOND).map("cross").second is None
    with pytest.raises(ValueError, match="no map 'encoder'; it has cross"):
        forward_pass(made(DotSeq2Seq), WORDS, TEXT, SECOND).map("encoder")
