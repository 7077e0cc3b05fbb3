"""A model in one file: T5 and BART, each its difference from what stands, equal to ``transformers``,
and pretrained, saved, tuned and drawn by what all models share, without a line elsewhere."""

import importlib
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from random import Random

import pytest
import torch
from parity.alike import same, shaken
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    T5ForConditionalGeneration,
)
from transformers import T5Config as TheirT5Config

from plmlab import cli
from plmlab.checkpoints import load, save
from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.hf.links import Link, affine, filled, to_ours
from plmlab.labs import AttentionLab
from plmlab.models.registry import MODELS
from plmlab.objectives import sequence_to_sequence
from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.visibility import AttentionMask

VOCAB = Vocabulary(90)
FILES = ("t5", "bart")
PRETRAINED = FILES[:1]
"""BART's objective, which damages a text in five ways, is not among them yet."""
LENGTHS = pytest.mark.parametrize("lengths", [[1], [9, 9], [17, 4, 11]])
CLOSE = 1e-6
"""To their T5, which takes the mean square of its norms in float32, whatever the weights are."""
LONG = [40 + i % 50 for i in range(100)]

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module", autouse=True)
def files() -> Iterator[dict]:
    """The files; their models are on the list while this file is tested."""
    yield (found := {name: importlib.import_module(name) for name in FILES})
    for name in [name for name, kind in MODELS.items() if kind.model.__module__ in found]:
        del MODELS[name]


@pytest.mark.parametrize("name", FILES)
def test_it_is_short(name: str, files: dict) -> None:
    assert len(Path(files[name].__file__).read_text(encoding="utf-8").splitlines()) <= 100


def rows(lengths: list[int], seed: int) -> tuple[Tensor, Tensor]:
    """Random tokens, and which of them are real."""
    drawn = torch.randint(40, 90, (len(lengths), max(lengths)), generator=torch.Generator().manual_seed(seed))
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return drawn.masked_fill(~real, 0), real


def batch_of(tokens: Tensor, real: Tensor, targets: Tensor | None = None, causal: bool = False) -> Batch:
    place = torch.arange(tokens.shape[1])[None, None]
    return Batch(tokens, place, (tokens % 3 == 0).long() * real, AttentionMask(causal=causal, keys=real),
                 torch.full_like(tokens, IGNORE) if targets is None else targets)


def t5_links(layers: int) -> list[Link]:
    """Ours and theirs."""
    def sides() -> Iterator[tuple[str, str]]:
        for side, i in product(("encoder", "decoder"), range(layers)):
            parts = ["attention", "cross_attention", "feed_forward"] if side == "decoder" else ["attention",
                                                                                                "feed_forward"]
            for number, part in enumerate(parts):
                own, other = f"{side}.layers.{i}.{part}", f"{side}.block.{i}.layer.{number}"
                yield f"{own}_residual.norm", f"{other}.layer_norm"
                if part == "feed_forward":
                    yield from ((f"{own}.up", f"{other}.DenseReluDense.wi"),
                                (f"{own}.down", f"{other}.DenseReluDense.wo"))
                else:
                    name = "EncDecAttention" if part == "cross_attention" else "SelfAttention"
                    yield from ((f"{own}.{a}", f"{other}.{name}.{b}") for a, b in zip(
                        ("q", "k", "v", "out"), "qkvo", strict=True))
        for side in ("encoder", "decoder"):
            yield f"{side}.distance", f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias"
            yield f"{side}.final_norm", f"{side}.final_layer_norm"
        yield "token", "shared"
    return [Link(f"{own}.weight", f"{other}.weight") for own, other in sides()]


@LENGTHS
def test_t5_is_that_of_transformers(lengths: list[int], files: dict) -> None:
    """Logits, the loss and all gradients; heads are wider than model / heads, and the farthest distances share one."""
    lengths = [25 * length if length > 10 else length for length in lengths]
    theirs = shaken(T5ForConditionalGeneration(TheirT5Config(
        vocab_size=90, d_model=12, d_kv=5, d_ff=20, num_layers=2, num_heads=3, relative_attention_num_buckets=8,
        dropout_rate=0.0, decoder_start_token_id=5, pad_token_id=0)))
    ours = files["t5"].T5(files["t5"].T5Config(90, 2, 12, 3, 20, 0.0, width=5, buckets=8)).double().eval()
    filled(ours, to_ours(t5_links(2), theirs.state_dict()))
    (source, real), (target, written) = rows(lengths, 1), rows(lengths[::-1], 2)
    targets = target.roll(-1, 1).masked_fill(~written, IGNORE)
    batch = PairBatch(batch_of(source, real), batch_of(target, written, targets, causal=True),
                      AttentionMask(keys=real))
    told = theirs(source, attention_mask=real.long(), decoder_input_ids=target, decoder_attention_mask=written.long())
    same(ours(batch)[written], told.logits[written], CLOSE)
    loss, expected = ours.loss(batch), F.cross_entropy(told.logits.flatten(0, 1), targets.flatten())
    same(loss, expected, CLOSE)
    loss.backward()
    expected.backward()
    grads = to_ours(t5_links(2), {name: p.grad for name, p in theirs.named_parameters()})
    for name, parameter in ours.named_parameters():
        same(parameter.grad, grads.pop(name), 10 * CLOSE)
    assert not grads


def bart_links(layers: int) -> list[Link]:
    """Ours and theirs; their tables of positions begin with two rows that nothing reads."""
    links = [Link("token.weight", "model.shared.weight")]
    for side in ("encoder", "decoder"):
        links += affine(f"{side}.embeddings.norm", f"model.{side}.layernorm_embedding")
        for i in range(layers):
            own, other = f"{side}.layers.{i}", f"model.{side}.layers.{i}"
            parts = (("attention", "self_attn"), ("cross_attention", "encoder_attn"))
            for part, name in parts if side == "decoder" else parts[:1]:
                for a, b in (("q", "q_proj"), ("k", "k_proj"), ("v", "v_proj"), ("out", "out_proj")):
                    links += affine(f"{own}.{part}.{a}", f"{other}.{name}.{b}")
                links += affine(f"{own}.{part}_residual.norm", f"{other}.{name}_layer_norm")
            links += [*affine(f"{own}.feed_forward.up", f"{other}.fc1"),
                      *affine(f"{own}.feed_forward.down", f"{other}.fc2"),
                      *affine(f"{own}.feed_forward_residual.norm", f"{other}.final_layer_norm")]
    return links


@LENGTHS
def test_bart_is_that_of_transformers(lengths: list[int], files: dict) -> None:
    """Logits, and all gradients."""
    theirs = shaken(BartForConditionalGeneration(BartConfig(
        vocab_size=90, d_model=12, encoder_layers=2, decoder_layers=2, encoder_attention_heads=3, pad_token_id=0,
        decoder_attention_heads=3, encoder_ffn_dim=20, decoder_ffn_dim=20, max_position_embeddings=24, dropout=0.0)))
    theirs.final_logits_bias += torch.randn(90).double()
    ours = files["bart"].BART(files["bart"].BARTConfig(90, 2, 12, 3, 20, 0.0, time=24)).double().eval()
    links, state = bart_links(2), theirs.state_dict()
    tables = {f"{side}.embeddings.position.weight": f"model.{side}.embed_positions.weight"
              for side in ("encoder", "decoder")}
    filled(ours, to_ours(links, state) | {own: state[other][2:] for own, other in tables.items()}
           | {"output_bias": theirs.final_logits_bias[0]})
    (source, real), (target, written) = rows(lengths, 1), rows(lengths[::-1], 2)
    batch = PairBatch(batch_of(source, real), batch_of(target, written, causal=True), AttentionMask(keys=real))
    told = theirs(source, attention_mask=real.long(), decoder_input_ids=target, decoder_attention_mask=written.long())
    same(ours(batch)[written], told.logits[written])
    weights = torch.linspace(-1, 1, int(written.sum()) * 90, dtype=torch.float64).view(-1, 90)
    for logits in (ours(batch), told.logits):
        (logits[written] * weights).sum().backward()
    found = {name: p.grad for name, p in theirs.named_parameters()}
    grads = to_ours(links, found) | {own: found[other][2:] for own, other in tables.items()}
    for name, parameter in ours.named_parameters():
        learn = slice(1, None) if name == "token.weight" else slice(None)  # theirs: not padding
        if name != "output_bias":  # a constant of theirs
            same(parameter.grad[learn], grads.pop(name)[learn])
    assert not grads


@torch.no_grad()
def test_t5_writes_with_caches_what_it_reads_at_once(files: dict) -> None:
    model = shaken(files["t5"].T5(files["t5"].T5Config(90, 2, 12, 3, 20, 0.0, width=5, buckets=8)))
    target, real = rows([11, 11], 2)
    source = batch_of(*rows([7, 4], 1))
    whole = model(PairBatch(source, batch_of(target, real, causal=True), AttentionMask(keys=source.padding_mask)))
    state = model.start(source)
    for step in (slice(0, 3), slice(3, 4), slice(4, 11)):
        same(model.step(target[:, step], state), whole[:, step.stop - 1])


@pytest.mark.parametrize("size", [*range(1, 12), 40, 100])
def test_t5_drops_spans_that_its_target_has(size: int, files: dict) -> None:
    """Put back where their sentinels stand, they give the text; the number of what is dropped is the paper's."""
    tokens = LONG[:size]
    for seed in range(20):
        made = files["t5"].span_corruption(tokens, vocab=VOCAB, rng=Random(seed))
        source, target = made.source.tokens.tolist()[:-1], made.target.tokens.tolist()[1:]
        marks = [token for token in target if token in VOCAB.sentinels]
        assert marks == list(VOCAB.sentinels[:len(marks)]) and target[-1] == marks[-1]
        spans = {mark: target[target.index(mark) + 1:target.index(after)]
                 for mark, after in pairwise(marks)}
        assert [word for token in source for word in spans.get(token, [token])] == tokens
        lost = sum(map(len, spans.values()))
        assert lost == min(max(1, round(0.15 * size)), size - 1) and len(spans) == max(1, round(lost / 3))


@pytest.mark.parametrize("name", PRETRAINED)
def test_it_is_pretrained_saved_loaded_tuned_and_drawn(name: str, files: dict, tmp_path: Path) -> None:
    corpus, out = tmp_path / "text.txt", tmp_path / "made"
    corpus.write_text("\n\n".join(f"the {a} sees the {b}." for a in ("cat", "dog", "fox") for b in ("sun", "moon")))
    assert cli.main(["pretrain", name, "--corpus", str(corpus), "--out", str(out), "--steps", "4", "--batch", "2",
                     "--time", "16", "--vocab", "330"]) == 0
    model, words = load(out)
    tuned, batch = on_a_task(model, words)
    history = fit(tuned, lambda _: batch, steps=60, lr=2e-3, warmup=6, show=False)
    assert history.losses[-1] < 0.5 * history.losses[0]
    save(tmp_path / "tuned", tuned, words, command="x", figures={})
    again, _ = load(tmp_path / "tuned")
    with torch.no_grad():
        assert torch.equal(again(batch), tuned.eval()(batch))
    lab = AttentionLab(again, words, "the cat sees the sun", "the dog", layer=1, head=0)
    assert lab.message == "" and lab.state["size"][0] == len([*layers_of(again)])


def on_a_task(model: nn.Module, words: Tokenizer) -> tuple[nn.Module, PairBatch]:
    """The model as it is tuned, and a batch of its task: which of two animals, as a text."""
    texts = [words.encode(f"the {animal} sees the moon", plain=True) for animal in ("cat", "dog")]
    return model, PairBatch.of([sequence_to_sequence(text, text[1:2], vocab=words.vocab) for text in texts], pad=0)


def layers_of(model: nn.Module) -> Iterator[nn.Module]:
    """The layers that a lab numbers: of an encoder-decoder, the encoder's."""
    yield from model.encoder.layers


