"""Our GPT and GPT-2 under padding and masks, against ``transformers``: every position's output, and the gradients."""

import pytest
import torch
from alike import same, shaken
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel, OpenAIGPTConfig, OpenAIGPTLMHeadModel

from plmlab.example import IGNORE, Batch
from plmlab.hf import convert
from plmlab.hf.gpt import gpt2_links, gpt_links
from plmlab.hf.links import to_ours
from plmlab.interpret import watch
from plmlab.visibility import AttentionMask

SIZES = [
    {"vocab_size": 60, "n_positions": 24, "n_embd": 8, "n_layer": 1, "n_head": 1},
    {"vocab_size": 50, "n_positions": 30, "n_embd": 12, "n_layer": 3, "n_head": 3, "layer_norm_epsilon": 1e-3},
    {"vocab_size": 45, "n_positions": 19, "n_embd": 16, "n_layer": 2, "n_head": 4},
    {"vocab_size": 39, "n_positions": 19, "n_embd": 20, "n_layer": 2, "n_head": 2},
]
NO_IDS = {"bos_token_id": None, "eos_token_id": None, "attn_implementation": "eager"}
KINDS = [(GPT2Config, GPT2LMHeadModel, gpt2_links), (OpenAIGPTConfig, OpenAIGPTLMHeadModel, gpt_links)]
both = pytest.mark.parametrize("kind", KINDS, ids=["gpt2", "gpt1"])
sizes = pytest.mark.parametrize("size", SIZES)


def looks(form: str) -> torch.Tensor:
    """Which keys of four texts of 17 positions may be looked at; the first always may, so that no query is left
    alone."""
    if form == "padding":
        return torch.arange(17)[None] < torch.tensor([17, 1, 8, 13])[:, None]
    keys = torch.rand(4, 17, generator=torch.Generator().manual_seed(2)) < 0.5
    keys[:, 0] = True
    return keys


@pytest.mark.parametrize("form", ["padding", "holes"])
@both
@sizes
def test_output_attention_loss_and_gradients(size: dict, kind: tuple, form: str) -> None:
    config, model, links = kind
    theirs = shaken(model(config(**size, **NO_IDS)))
    ours, keys = convert(theirs), looks(form)
    windows = torch.randint(0, size["vocab_size"], (4, 18), generator=torch.Generator().manual_seed(7))
    plain = Batch.causal(windows)
    batch = Batch(plain.tokens, plain.position_ids, plain.segments, AttentionMask(causal=True, keys=keys),
                  plain.targets.masked_fill(~keys, IGNORE))
    expected = theirs(input_ids=batch.tokens, attention_mask=keys.long(), output_attentions=True,
                      output_hidden_states=True)
    with watch(ours) as seen:
        same(ours(batch), expected.logits)
    assert not torch.allclose(expected.logits, ours(plain))
    for mine, other in zip(seen.attention(), expected.attentions, strict=True):
        same(mine, other)
    # their last hidden state is that behind the last norm
    for mine, other in zip(seen.hidden()[:-1], expected.hidden_states[:-1], strict=True):
        same(mine, other)
    loss = ours.loss(batch)
    by_hand = F.cross_entropy(expected.logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)
    same(loss, by_hand)
    loss.backward()
    by_hand.backward()
    others = to_ours(links(size["n_layer"]), {name: p.grad for name, p in theirs.named_parameters()})
    for name, parameter in ours.named_parameters():
        same(parameter.grad, others[name])


@both
def test_a_padded_row_is_the_row_alone(kind: tuple) -> None:
    """Right padding needs no mask in a causal model: a batch without one gives their masked output at real
    positions."""
    config, model, _ = kind
    theirs = shaken(model(config(**SIZES[1], **NO_IDS)))
    ours, keys = convert(theirs), looks("padding")
    windows = torch.randint(0, 50, (4, 18), generator=torch.Generator().manual_seed(7))
    masked = theirs(input_ids=windows[:, :-1], attention_mask=keys.long()).logits
    same(ours(Batch.causal(windows))[keys], masked[keys])
