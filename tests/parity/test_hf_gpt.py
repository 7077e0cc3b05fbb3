"""Our GPT and GPT-2 against ``OpenAIGPTLMHeadModel`` and ``GPT2LMHeadModel``."""

from random import Random

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
from plmlab.objectives import causal
from plmlab.text.vocabulary import Vocabulary

SIZES = [
    {"vocab_size": 60, "n_positions": 24, "n_embd": 8, "n_layer": 1, "n_head": 1},
    {"vocab_size": 50, "n_positions": 30, "n_embd": 12, "n_layer": 3, "n_head": 3, "layer_norm_epsilon": 1e-3},
    {"vocab_size": 45, "n_positions": 19, "n_embd": 16, "n_layer": 2, "n_head": 4},
]
NO_IDS = {"bos_token_id": None, "eos_token_id": None, "attn_implementation": "eager"}
KINDS = [(GPT2Config, GPT2LMHeadModel, gpt2_links), (OpenAIGPTConfig, OpenAIGPTLMHeadModel, gpt_links)]
both = pytest.mark.parametrize("kind", KINDS, ids=["gpt2", "gpt1"])


@both
@pytest.mark.parametrize("time", [1, 7, 18])
@pytest.mark.parametrize("size", SIZES)
def test_logits_loss_and_gradients(size: dict, time: int, kind: tuple) -> None:
    config, model, links = kind
    theirs = shaken(model(config(**size, **NO_IDS)))
    ours = convert(theirs)
    windows = torch.randint(0, size["vocab_size"], (3, time + 1), generator=torch.Generator().manual_seed(time))
    batch = Batch.causal(windows)
    expected = theirs(input_ids=windows, labels=windows, output_attentions=True)
    with watch(ours) as seen:
        same(ours(batch), expected.logits[:, :-1])
    for mine, other in zip(seen.attention(), expected.attentions, strict=True):
        same(mine, other[..., :-1, :-1])
    loss = ours.loss(batch)
    same(loss.float(), expected.loss, 1e-5)      # theirs is taken in single precision
    loss.backward()
    F.cross_entropy(expected.logits[:, :-1].flatten(0, 1), windows[:, 1:].flatten()).backward()
    others = to_ours(links(size["n_layer"]), {name: p.grad for name, p in theirs.named_parameters()})
    for name, parameter in ours.named_parameters():
        same(parameter.grad, others[name])
    assert set(others) == {name for name, _ in ours.named_parameters()}


@both
def test_padding(kind: tuple) -> None:
    config, model, _ = kind
    theirs = shaken(model(config(**SIZES[0], **NO_IDS)))
    ours = convert(theirs)
    examples = [causal(range(40, 40 + n), vocab=Vocabulary(60), rng=Random(0)) for n in (3, 12, 7)]
    batch = Batch.of(examples, pad=0)
    real = batch.targets != IGNORE
    logits = theirs(input_ids=batch.tokens, attention_mask=real.long()).logits
    same(ours(batch)[real], logits[real])
    same(ours.loss(batch), F.cross_entropy(logits[real], batch.targets[real]))


@both
def test_generation_token_for_token(kind: tuple) -> None:
    config, model, _ = kind
    theirs = shaken(model(config(**SIZES[1], **NO_IDS)))
    ours = convert(theirs)
    start = torch.tensor([[7, 11, 13], [2, 3, 5]])
    expected = theirs.generate(start, attention_mask=torch.ones_like(start), do_sample=False, max_new_tokens=12,
                               pad_token_id=0)
    written, state = start, ours.start()
    step = start
    for _ in range(12):
        step = ours.step(step, state).argmax(-1, keepdim=True)
        written = torch.cat([written, step], dim=1)
    assert written.tolist() == expected.tolist()
