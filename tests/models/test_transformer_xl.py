"""Transformer-XL: what memory is, by one pass over the whole text under a mask made by hand."""

import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.checkpoints import load, save
from plmlab.decode import AutoregressiveModel, DecodingState, UncachedLM, beam_search, sample
from plmlab.example import Batch
from plmlab.interpret import readable, watch
from plmlab.interpret.attention_maps import attention_maps
from plmlab.interpret.logit_lens import residual_stream
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.objectives import causal, masked
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.visibility import AttentionMask

VOCAB = 60
SMALL = TransformerXLConfig(VOCAB, segment=4, memory=6, layers=3, model=12, heads=3, inner=20, dropout=0.0)
LENGTHS = [1, 3, 4, 5, 8, 19]
"""One position, not quite a segment, a segment, one more, two, and more than the memory of any layer holds."""


def made(**changes: object) -> TransformerXL:
    """In float64, every weight large enough to matter."""
    torch.manual_seed(3)
    model = TransformerXL(replace(SMALL, **changes)).double().eval()
    for name, weight in model.named_parameters():
        torch.nn.init.normal_(weight, mean=float(name.endswith("norm.weight")), std=0.3)
    return model


def text(time: int, batch: int = 2) -> Tensor:
    return torch.randint(7, VOCAB, (batch, time), generator=torch.Generator().manual_seed(time))


def same(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def reads(model: TransformerXL, tokens: Tensor) -> Tensor:
    return model(Batch.continuing(tokens, 0))


def segments(time: int, length: int) -> list[int]:
    """Where the segment of each position begins, in a text that is read ``length`` positions at once."""
    return [position // length * length for position in range(time)]


def looks(begins: list[int], memory: int, reach: int | None = None) -> Tensor:
    """Who may look at whom: at no position behind, at none further than a memory before the beginning of the own
    segment, and at the last ``reach`` positions alone, where every position looks equally far."""
    time = len(begins)
    return torch.tensor([[j <= i and j >= begins[i] - memory and (reach is None or i - j < reach)
                          for j in range(time)] for i in range(time)])


def vectors(model: TransformerXL, tokens: Tensor) -> Tensor:
    """What the lowest layer reads: the tokens' vectors times √d, and no positions."""
    return model.embeddings.token.weight[tokens] * math.sqrt(model.config.model)


def in_one_pass(model: TransformerXL, tokens: Tensor, mask: Tensor, x: Tensor | None = None) -> Tensor:
    """The logits of the same layers over the whole text at once, with no memory at all."""
    x = vectors(model, tokens) if x is None else x
    for layer in model.layers:
        x = layer(x, AttentionMask(pairs=mask.expand(len(x), -1, -1)))
    return x @ model.embeddings.token.weight.T


def step_by_step(model: TransformerXL, tokens: Tensor) -> Tensor:
    state = model.start()
    return torch.stack([model.step(one, state) for one in tokens.split(1, 1)], 1)


@pytest.mark.parametrize("time", LENGTHS)
@pytest.mark.parametrize("memory", [0, 1, 3, 4, 6, 30])
@torch.no_grad()
def test_segments_with_memory_are_one_pass_under_a_mask(memory: int, time: int) -> None:
    """In every layer: what a layer made of a position does not hang on who looks at it later."""
    model, tokens = made(memory=memory), text(time)
    same(reads(model, tokens), in_one_pass(model, tokens, looks(segments(time, 4), memory)))
    same(step_by_step(model, tokens), in_one_pass(model, tokens, looks(segments(time, 1), memory)))


@torch.no_grad()
def test_a_memory_that_holds_all_makes_reading_in_parts_no_other() -> None:
    tokens = text(19)
    wholes = [reads(made(segment=time, memory=30), tokens) for time in (1, 4, 7, 19, 100)]
    for whole in [*wholes[1:], step_by_step(made(memory=30), tokens)]:
        same(whole, wholes[0])
    assert not torch.isclose(reads(made(memory=6), tokens)[:, 12:], wholes[0][:, 12:]).all(-1).any()


@pytest.mark.parametrize("memory", [1, 3, 6, 30])
@pytest.mark.parametrize("time", [1, 5, 19])
@torch.no_grad()
def test_same_length_lets_every_position_look_equally_far(time: int, memory: int) -> None:
    model, tokens = made(memory=memory, same_length=True), text(time)
    mask = looks([0] * time, time, memory)
    assert mask.sum(1).tolist() == [min(position + 1, memory) for position in range(time)]
    same(reads(model, tokens), in_one_pass(model, tokens, mask))
    same(step_by_step(model, tokens), in_one_pass(model, tokens, mask))
    with watch(model, "layers.*.attention.weights") as seen:
        reads(model, tokens)
    for name in seen:
        assert torch.cat([(weights > 0).sum(-1)[0, 0] for weights in seen.calls(name)]).tolist() == mask.sum(1).tolist()


@torch.no_grad()
def test_distances_beyond_the_clamp_count_as_the_clamp() -> None:
    """As in a model without one in whose table of distances all beyond it are one row."""
    tokens, plain = text(19), made()
    for clamp in (1, 3, 5):
        copied = made()
        for layer in copied.layers:
            layer.attention.sinusoid.table[clamp + 1:] = layer.attention.sinusoid.table[clamp]
        clamped = reads(made(clamp=clamp), tokens)
        same(clamped, reads(copied, tokens))
        assert not torch.isclose(clamped[:, 9:], reads(plain, tokens)[:, 9:]).all(-1).any()
    same(reads(made(clamp=9), tokens), reads(plain, tokens))


@pytest.mark.parametrize(("layers", "time", "memory"), [
    (1, 4, 6), (1, 3, 3), (2, 3, 3), (3, 3, 3), (3, 4, 1), (2, 4, 6), (3, 2, 5), (2, 5, 0), (2, 1, 4),
])
@torch.no_grad()
def test_how_far_back_a_position_hears(layers: int, time: int, memory: int) -> None:
    """A segment that begins at b sees back to b − memory. That position's segment begins up to time − 1 positions
    earlier, and the next layer down sees on from there: by whole segments, time · ⌈memory / time⌉ positions for each
    further layer. So the farthest position is b − memory − (layers − 1) · time · ⌈memory / time⌉."""
    model, length = made(layers=layers, segment=time, memory=memory), 26
    tokens = text(length, 1).expand(length + 1, -1).clone()
    for position in range(length):
        tokens[position, position] = (tokens[position, position] - 6) % (VOCAB - 7) + 7
    logits = reads(model, tokens)
    heard = (logits[:length] - logits[length]).abs().amax(-1) > 1e-12
    for position in range(length):
        farthest = position // time * time - memory - (layers - 1) * time * -(-memory // time)
        assert heard[:, position].tolist() == [max(0, farthest) <= other <= position for other in range(length)]


@torch.no_grad()
def test_how_far_back_a_position_of_same_length_hears() -> None:
    """A layer adds memory − 1 positions, wherever the segments begin."""
    model, tokens = made(memory=3, same_length=True), text(20, 1).expand(21, -1).clone()
    tokens[range(20), range(20)] = 7 + (tokens[0] - 6) % (VOCAB - 7)
    logits = reads(model, tokens)
    heard = (logits[:20] - logits[20]).abs().amax(-1) > 1e-12
    assert [int(heard[:, position].nonzero()[0]) for position in range(20)] == [max(0, position - 6)
                                                                                for position in range(20)]


def test_nothing_flows_back_into_the_memory() -> None:
    """The last segment's loss moves what its own positions begin with, and no others'; in one pass it would."""
    model, tokens = made(), text(12)
    with watch(model, "embedded") as seen:
        logits = reads(model, tokens)
    loss = F.cross_entropy(logits[:, 8:].flatten(0, 1), text(4).flatten())
    parts = torch.autograd.grad(loss, seen.calls("embedded"))
    assert not any(part.any() for part in parts[:2]) and parts[2].abs().amax(-1).min() > 0
    x = vectors(model, tokens).detach().requires_grad_()
    through = in_one_pass(model, tokens, looks(segments(12, 4), 6), x)
    [flows] = torch.autograd.grad(F.cross_entropy(through[:, 8:].flatten(0, 1), text(4).flatten()), x)
    assert flows[:, :8].abs().amax(-1).min() > 1e-6
    same(flows[:, 8:], parts[2])


def test_a_loss_teaches_how_to_read_the_memory() -> None:
    """§3.2: keys and values of the memory are made by the weights that are learned, from states that stand still. In a
    layer alone that is one pass over vectors of which the remembered ones stand still."""
    model, tokens = made(layers=1), text(8)
    weights = list(model.layers.parameters())
    logits = reads(model, tokens)
    found = torch.autograd.grad(logits[:, 4:].square().sum(), weights)
    x = vectors(model, tokens)
    x = torch.cat([x[:, :4].detach(), x[:, 4:]], 1)
    through = in_one_pass(model, tokens, looks(segments(8, 4), 6), x)
    expected = torch.autograd.grad(through[:, 4:].square().sum(), weights)
    for ours, theirs in zip(found, expected, strict=True):
        same(ours, theirs)


@torch.no_grad()
def test_a_state_remembers_what_each_layer_read_last() -> None:
    """The input of each layer, of the last ``memory`` positions; and texts may go on in parts of any length."""
    model, tokens = made(), text(13)
    state, begins, at = model.start(), [], 0
    for part in (2, 5, 1, 5):
        logits = model.step(tokens[:, at:at + part], state)
        begins += [at + begin for begin in segments(part, 4)]
        mask = looks(begins, 6)
        same(logits, in_one_pass(model, tokens[:, :at + part], mask)[:, -1])
        at += part
        assert {memory.time for memory in state.memories} == {min(at, 6)}
    x = vectors(model, tokens)
    for layer, memory in zip(model.layers, state.memories, strict=True):
        same(memory.states, x[:, -6:])
        x = layer(x, AttentionMask(pairs=mask.expand(2, -1, -1)))


@torch.no_grad()
def test_rows_of_a_state_are_kept_dropped_and_doubled() -> None:
    model, tokens, rows = made(), text(12, 3), torch.tensor([2, 0, 2])
    state = model.start()
    state.select(rows)
    model.step(tokens[:, :9], state)
    state.select(rows)
    one_by_one = [model.start() for _ in rows]
    for row, alone in zip(rows, one_by_one, strict=True):
        model.step(tokens[row, None, :9], alone)
    expected = [model.step(tokens[None, row, 9:], alone) for row, alone in enumerate(one_by_one)]
    same(model.step(tokens[:, 9:], state), torch.cat(expected))


def test_it_writes_on_past_its_memory() -> None:
    """A prompt of two segments, then one token at a time, as if each were a segment, and thirty of them."""
    model, prompts, vocab = made(), text(6), Vocabulary(VOCAB, end=None)
    assert isinstance(model, AutoregressiveModel) and isinstance(model.start(), DecodingState)

    def anew(texts: Tensor) -> Tensor:
        begins = [0] * 4 + [4] * 2 + list(range(6, texts.shape[1]))
        return in_one_pass(model, texts, looks(begins, 6))[:, -1]

    def written(way: AutoregressiveModel) -> list[tuple[int, ...]]:
        drawn = sample(way, prompts, vocab, length=30, generator=torch.Generator().manual_seed(1))
        searched = beam_search(way, prompts, vocab, length=30, beam=3)
        return [found.tokens for found in [*drawn, *searched[0], *searched[1]]]

    ours = written(model)
    assert ours == written(UncachedLM(anew))
    assert len(set(ours)) == 8 and {len(tokens) for tokens in ours} == {30}


@torch.no_grad()
def test_remembering_is_the_same_weights_with_other_lengths() -> None:
    model, tokens = made(), text(19)
    other = model.remembering(segment=7, memory=2, same_length=True, clamp=1)
    assert other.config == replace(SMALL, segment=7, memory=2, same_length=True, clamp=1) and model.config == SMALL
    same(reads(other, tokens), reads(made(segment=7, memory=2, same_length=True, clamp=1), tokens))
    before = reads(other, tokens)
    model.layers[0].attention.r.weight.mul_(2)
    assert not torch.allclose(reads(other, tokens), before), "the weights are shared"
    for (name, weight), again in zip(model.state_dict().items(), other.state_dict().values(), strict=True):
        assert weight.data_ptr() == again.data_ptr() and again.dtype == torch.float64, name
    assert not other.training and model.train().remembering(memory=1).training
    assert model.eval().float().remembering(memory=1).embeddings.token.weight.dtype == torch.float32


@torch.no_grad()
@pytest.mark.parametrize("changes", [{}, {"memory": 1}, {"memory": 0}, {"segment": 30}, {"same_length": True}])
def test_at_once_is_the_same_in_one_pass_and_says_why(changes: dict[str, Any]) -> None:
    model = made(**changes)
    example = causal(text(18, 1)[0].tolist(), vocab=Vocabulary(VOCAB), rng=Random(0))
    once = readable.in_one_pass(model, example)
    segment, memory, time = model.config.segment, model.config.memory, len(example.tokens)
    begins = [0] * time if model.config.same_length else segments(time, segment)
    mask = looks(begins, time, memory) if model.config.same_length else looks(begins, memory)
    assert torch.equal(once.visible.dense(), mask)
    same(model(Batch.of([once], pad=0)), model(Batch.of([example], pad=0)))
    for query, key in ((time - 1, 0), (2, 5), (7, 6), (7, 7)):
        reason = once.visible.reason(query, key)
        assert ("can attend to" in reason) == bool(mask[query, key]) and "{" not in reason


@torch.no_grad()
def test_whoever_looks_in_sees_all_segments() -> None:
    """Maps of what a lab made an Example of, and the residual stream, of a text of five segments."""
    model, tokens = made(), text(18, 1)[0].tolist()
    example = causal(tokens, vocab=Vocabulary(VOCAB), rng=Random(0))
    [found] = attention_maps(model, [str(i) for i in range(19)], example)
    assert torch.equal(found.visible.dense(), looks(segments(19, 4), 6))
    for weights in found.weights:
        assert weights.shape == (3, 19, 19) and not weights[:, ~found.visible.dense()].any()
    stream = residual_stream(model, tokens)
    assert stream.hidden.shape == (4, 18, 12)
    same(stream.hidden[-1][None], model.hidden_states(Batch.continuing(torch.tensor([tokens]), 0)))


def test_a_batch_that_looks_ahead_is_refused() -> None:
    model = made()
    example = masked([9, 10, 11], vocab=Vocabulary(VOCAB), rng=Random(0))
    with pytest.raises(ValueError, match="this batch's mask allows attention to later positions; make the batch with"):
        model(Batch.of([example], pad=0))
    with pytest.raises(ValueError, match="with the objective causal"):
        model(replace(Batch.continuing(text(5), 0), visible=AttentionMask()))


def test_memories_beside_a_mask_of_its_own_are_refused() -> None:
    model, batch = made(), replace(Batch.continuing(text(5), 0), visible=AttentionMask(pairs=looks([0] * 5, 2)[None]))
    model.hidden_states(batch)
    with pytest.raises(ValueError, match="processed in one pass, without memories; omit the mask or the memories"):
        model.hidden_states(batch, model.start().memories)


@pytest.mark.parametrize(("changes", "told"), [
    ({"segment": 0}, "segment is 0; give a whole number of at least 1"),
    ({"memory": -3}, "memory is -3; give a whole number of at least 0"),
    ({"memory": 0, "same_length": True}, "memory is 0; give a whole number of at least 1"),
    ({"clamp": 0}, "clamp is 0; give a whole number of at least 1, or None"),
])
def test_lengths_that_make_no_sense_are_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        replace(SMALL, **changes)


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    words = Tokenizer.words(["one two three"], VOCAB)
    model = TransformerXL(replace(SMALL, vocab=len(words), same_length=True, clamp=3)).eval()
    save(tmp_path / "xl", model, words, command="a test", figures={})
    again, _ = load(tmp_path / "xl", expect="transformer-xl")
    tokens = torch.randint(len(words), (2, 19))
    assert again.config == model.config and torch.equal(reads(again, tokens), reads(model, tokens))


@pytest.mark.usefixtures("one_thread")
def test_it_learns_what_only_its_memory_can_tell() -> None:
    """Three tokens and the same again, in segments of two: what comes next stands always before the segment."""
    chance, reached = math.log(4), {}
    for memory in (0, 2):
        generator = torch.Generator().manual_seed(0)

        def drawn(texts: int, generator: torch.Generator = generator) -> Batch:
            return Batch.causal(torch.randint(7, 11, (texts, 3), generator=generator).repeat(1, 2))

        torch.manual_seed(0)
        model = TransformerXL(replace(SMALL, segment=2, memory=memory, layers=1, model=16, heads=2))
        fit(model, lambda _, drawn=drawn: drawn(32), steps=100, lr=0.02, show=False)
        batch = drawn(200)
        told = model(batch)[:, 2:].flatten(0, 1)
        reached[memory] = F.cross_entropy(told, batch.targets[:, 2:].flatten()).item()
    assert reached[2] < 0.6 * chance < 0.95 * chance < reached[0]


def test_the_published_size() -> None:
    """151 million (table 1): 41.1 in the layers, the rest in the table of words, which input and output share."""
    d, inner, layers, words = 410, 2100, 16, 267_735
    projections, biases = 5 * d * d, 2 * d
    feed_forward, norms = d * inner + inner + inner * d + d, 2 * 2 * d
    counted = layers * (projections + biases + feed_forward + norms)
    with torch.device("meta"):
        model = TransformerXL(TransformerXLConfig.base())
    assert counted == 41_079_520
    assert sum(weight.numel() for weight in model.parameters()) == counted + words * d
    assert round((counted + words * d) / 1e6) == 151
