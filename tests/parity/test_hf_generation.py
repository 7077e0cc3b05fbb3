"""Writing, token for token: ours greedily and by beam search, with and without the cache, against ``generate``."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel, OpenAIGPTConfig, OpenAIGPTLMHeadModel

from plmlab.decode import AutoregressiveModel, Hypothesis, UncachedLM, beam_search, greedy
from plmlab.example import Batch
from plmlab.hf import convert
from plmlab.text.vocabulary import Vocabulary

SIZES = [
    {"vocab_size": 60, "n_positions": 24, "n_embd": 8, "n_layer": 1, "n_head": 1},
    {"vocab_size": 41, "n_positions": 30, "n_embd": 12, "n_layer": 3, "n_head": 3, "layer_norm_epsilon": 1e-3},
    {"vocab_size": 45, "n_positions": 19, "n_embd": 16, "n_layer": 2, "n_head": 4},
]
KINDS = [(GPT2Config, GPT2LMHeadModel), (OpenAIGPTConfig, OpenAIGPTLMHeadModel)]
both = pytest.mark.parametrize("kind", KINDS, ids=["gpt2", "gpt1"])
sizes = pytest.mark.parametrize("size", SIZES, ids=["1x8", "3x12", "2x16"])
cached = pytest.mark.parametrize("cache", [True, False], ids=["cache", "no-cache"])
START = torch.tensor([[7, 11, 13], [2, 3, 5], [30, 30, 30]])
LENGTH, END, PAD = 12, 6, 0


def models(kind: tuple, size: dict, seed: int = 0) -> tuple[Any, nn.Module, Vocabulary]:
    """Theirs and ours with the same random weights, so large that what is written seldom settles into one token."""
    config, model = kind
    theirs = model(config(**size, bos_token_id=None, eos_token_id=None)).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in theirs.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            if parameter.dim() > 1:
                parameter.copy_(0.6 * noise)
            elif name.endswith("bias"):
                parameter.copy_(0.1 * noise)
    return theirs, convert(theirs), Vocabulary(size["vocab_size"], end=END)


def writer(ours: Any, cache: bool) -> AutoregressiveModel:
    """Ours, or what reads the whole text anew for each token."""
    return ours if cache else UncachedLM(lambda texts: ours(Batch.causal(F.pad(texts, (0, 1))))[:, -1])


def generated(theirs: Any, start: Tensor, cache: bool, **choices: Any) -> Any:
    plain = {"attention_mask": torch.ones_like(start), "do_sample": False, "max_new_tokens": LENGTH, "use_cache": cache,
             "eos_token_id": END, "pad_token_id": PAD, "return_dict_in_generate": True}
    return theirs.generate(start, **plain | choices)


def cut(sequences: Tensor, end: int = END) -> list[tuple[int, ...]]:
    """What theirs wrote after the prompt, up to [END]; what fills a row up behind it is not text."""
    rows = [tuple(row) for row in sequences[:, START.shape[1]:].tolist()]
    return [row[: row.index(end) + 1] if end in row else row for row in rows]


def tokens(texts: list[Hypothesis]) -> list[tuple[int, ...]]:
    return [text.tokens for text in texts]


@cached
@both
@sizes
def test_greedy(size: dict, kind: tuple, cache: bool) -> None:
    seen = set()
    for seed in range(3):
        theirs, ours, vocab = models(kind, size, seed)
        texts = tokens(greedy(writer(ours, cache), START, vocab, length=LENGTH, banned=()))
        assert texts == cut(generated(theirs, START, cache).sequences)
        seen |= set(texts)
    assert len(seen) > 6 and any(len(set(text)) > 2 for text in seen)


@both
def test_greedy_stops_at_the_end_in_each_row_for_itself(kind: tuple) -> None:
    """Whatever token is made the end, of all that are written without one."""
    theirs, ours, vocab = models(kind, SIZES[1], 4)
    free = tokens(greedy(ours, START, replace(vocab, end=None), length=LENGTH, banned=()))
    lengths = set()
    for end in sorted({token for text in free for token in text}):
        texts = tokens(greedy(ours, START, replace(vocab, end=end), length=LENGTH, banned=()))
        assert texts == cut(generated(theirs, START, True, eos_token_id=end).sequences, end)
        lengths |= {len(text) for text in texts}
    assert LENGTH in lengths and len(lengths) > 2


@cached
@pytest.mark.parametrize("beam", [2, 3, 5])
@both
def test_beam_search(kind: tuple, beam: int, cache: bool) -> None:
    """All texts that were found, in order, and their log-probabilities. Without a length penalty, and searching
    until nothing better can come (``early_stopping="never"``), the definitions agree."""
    lengths = set()
    for seed in range(3):
        theirs, ours, vocab = models(kind, SIZES[seed], seed)
        expected = generated(theirs, START, cache, num_beams=beam, num_return_sequences=beam, length_penalty=0.0,
                             early_stopping="never", output_scores=True)
        found = beam_search(writer(ours, cache), START, vocab, length=LENGTH, beam=beam, banned=())
        texts = [text for row in found for text in row]
        assert tokens(texts) == cut(expected.sequences)
        torch.testing.assert_close(torch.tensor([text.logprob for text in texts]), expected.sequences_scores.float(),
                                   rtol=0, atol=1e-4)
        lengths |= {len(text.tokens) for text in texts}
    assert len(lengths) > 2


@sizes
def test_prompts_of_several_lengths(size: dict) -> None:
    """Theirs pads them on the left, together; ours writes each by itself. (Their GPT-1 counts padding as positions.)"""
    theirs, ours, vocab = models(KINDS[0], size)
    prompts = [[7, 11, 13], [2], [30, 31]]
    start = torch.tensor([[PAD] * (3 - len(prompt)) + prompt for prompt in prompts])
    written = cut(generated(theirs, start, True, attention_mask=(start != PAD).long()).sequences)
    for prompt, row in zip(prompts, written, strict=True):
        assert tokens(greedy(ours, torch.tensor([prompt]), vocab, length=LENGTH, banned=())) == [row]
