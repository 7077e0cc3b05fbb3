"""What holds for GPT, BERT and the Transformer: who sees what, padding, the cache, the loss, the register."""

from random import Random

import pytest
import torch
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch, Example, PairBatch, PairExample
from plmlab.interpret import watch
from plmlab.layers.attention import Cache
from plmlab.layers.positions import sinusoid
from plmlab.layers.transformer import PostNorm, PreNorm, Residual
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.gpt import GPT, GPT2, GPTConfig
from plmlab.models.registry import model_type, type_of
from plmlab.models.transformer import Decoder, Encoder, Transformer, TransformerConfig
from plmlab.objectives import causal, masked
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask, Visibility

VOCAB = Vocabulary(60)
GPTS = pytest.mark.parametrize("kind", [GPT, GPT2])


def exact(model: torch.nn.Module) -> torch.nn.Module:
    """In float64, asked rather than trained, every weight large enough to matter."""
    torch.manual_seed(3)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


def gpt(kind: type[GPT]) -> GPT:
    return exact(kind(GPTConfig(60, time=16, layers=2, model=12, heads=3)))


class PreNormEncoder(Encoder):
    residual_class = PreNorm


class PreNormDecoder(Decoder):
    residual_class = PreNorm


class PreNormTransformer(Transformer):
    encoder_class, decoder_class = PreNormEncoder, PreNormDecoder


def transformer(residual: type[Residual] = PostNorm) -> Transformer:
    kind = Transformer if residual is PostNorm else PreNormTransformer
    return exact(kind(TransformerConfig(60, layers=2, model=12, heads=3, inner=20)))


def same(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def reads(tokens: list[int]) -> Example:
    return masked(tokens, vocab=VOCAB, rng=Random(0))


def pair(source: list[int], target: list[int]) -> PairExample:
    wrote = causal(target, vocab=VOCAB, rng=Random(0))
    read = reads(source)
    return PairExample(read, wrote, Visibility.full(len(wrote.tokens), len(read.tokens)))


@GPTS
def test_gpt_sees_nothing_that_comes_later(kind: type[GPT]) -> None:
    model, tokens = gpt(kind), torch.randint(7, 60, (2, 12))
    changed = tokens.clone()
    changed[:, 7] = (tokens[:, 7] + 1 - 7) % 53 + 7
    before, after = model(Batch.causal(tokens)), model(Batch.causal(changed))
    same(before[:, :7], after[:, :7])
    assert not torch.isclose(before[:, 7:], after[:, 7:]).all(-1).any()


@GPTS
@pytest.mark.parametrize("cuts", [[1] * 11, [5, 6], [4, 1, 6]])
def test_gpt_cache_is_no_cache(kind: type[GPT], cuts: list[int]) -> None:
    model, batch = gpt(kind), Batch.causal(torch.randint(7, 60, (2, 12)))
    whole, caches, at = model(batch), [Cache() for _ in model.layers], 0
    for part in batch.tokens.split(cuts, 1):
        place = torch.arange(at, at + part.shape[1]).expand(2, 1, -1)
        step = Batch(part, place, torch.zeros_like(part), AttentionMask(causal=True), torch.full_like(part, IGNORE))
        same(model(step, caches), whole[:, at:at + part.shape[1]])
        at += part.shape[1]
    state = model.start()
    model.step(batch.tokens[:, :4], state)
    same(model.step(batch.tokens[:, 4:9], state), whole[:, 8])


@pytest.mark.parametrize("make", [lambda: gpt(GPT), lambda: gpt(GPT2)], ids=["gpt", "gpt2"])
def test_padding_changes_nothing_for_gpt(make) -> None:
    model = make()
    examples = [causal(range(7, 7 + n), vocab=VOCAB, rng=Random(0)) for n in (3, 9, 6)]
    together = model(Batch.of(examples, pad=0))
    for row, example in zip(together, examples, strict=True):
        same(row[:len(example.tokens)], model(Batch.of([example], pad=0))[0])
    counts = torch.tensor([len(e.targets) for e in examples]).double()
    losses = torch.stack([model.loss(Batch.of([e], pad=0)) for e in examples])
    same(model.loss(Batch.of(examples, pad=0)), (losses * counts).sum() / counts.sum())


def test_padding_changes_nothing_for_bert() -> None:
    model = exact(BERT(BERTConfig(60, time=16, layers=2, model=12, heads=3, inner=20)))
    examples = [reads(list(range(7, 7 + n))) for n in (2, 10, 5)]
    together = model(Batch.of(examples, pad=0))
    for row, example in zip(together, examples, strict=True):
        same(row[:len(example.tokens)], model(Batch.of([example], pad=0))[0])


def test_a_mask_of_its_own_for_each_example() -> None:
    """Edited by hand, an example may not see what was closed, and pads with others all the same."""
    model = exact(BERT(BERTConfig(60, time=16, layers=1, model=12, heads=3, inner=20)))
    plain, closed = reads([9, 10, 11]), reads([9, 10, 11])
    visible = closed.visible
    for key in range(5):
        visible = visible.edited(1, key, key == 2)
    closed = Example(closed.tokens, closed.position_ids, closed.segments, visible, closed.targets)
    together = model(Batch.of([closed, reads(list(range(7, 15))), plain], pad=0))
    same(together[0, :5], model(Batch.of([closed], pad=0))[0])
    same(together[2, :5], model(Batch.of([plain], pad=0))[0])
    assert not torch.allclose(together[0, 1], together[2, 1])


def test_bert_adds_positions_and_segments() -> None:
    model = exact(BERT(BERTConfig(60, time=16, layers=1, model=12, heads=3, inner=20)))
    example = masked([9, 9, 9], pair=[9, 9], vocab=VOCAB, rng=Random(0), select=())
    hidden = model(Batch.of([example], pad=0))[0]
    assert not torch.allclose(hidden[1], hidden[2])
    one = Example(example.tokens, example.position_ids, torch.zeros_like(example.segments), example.visible,
                  example.targets)
    assert not torch.allclose(hidden, model(Batch.of([one], pad=0))[0])


def test_bert_loss_is_of_all_selected_positions_and_of_no_other() -> None:
    model = exact(BERTPretraining(BERTConfig(60, time=16, layers=1, model=12, heads=3, inner=20)))
    batch = Batch.of([reads(list(range(7, 17))), reads([20, 21])], pad=0)
    logits = model(batch).log_softmax(-1)
    asked = [(b, t) for b in range(2) for t in range(batch.size[1]) if batch.targets[b, t] != IGNORE]
    by_hand = -sum(logits[b, t, batch.targets[b, t]] for b, t in asked) / len(asked)
    same(model.loss(batch), by_hand)


@pytest.mark.parametrize("residual", [PostNorm, PreNorm])
def test_transformer_reads_the_source_and_only_what_it_wrote(residual: type[Residual]) -> None:
    model = transformer(residual)
    before = model(PairBatch.of([pair([7, 8, 9], [20, 21, 22, 23])], pad=0))
    later = model(PairBatch.of([pair([7, 8, 9], [20, 21, 30, 23])], pad=0))
    other = model(PairBatch.of([pair([7, 8, 10], [20, 21, 22, 23])], pad=0))
    same(before[:, :3], later[:, :3])
    assert not torch.isclose(before[:, 3:], later[:, 3:]).all(-1).any()
    assert not torch.isclose(before, other).all(-1).any()


def test_transformer_padding_changes_nothing() -> None:
    model = transformer()
    examples = [pair([7, 8, 9], [20, 21]), pair([11], [22, 23, 24, 25, 26]), pair(list(range(7, 17)), [30])]
    together = model(PairBatch.of(examples, pad=0))
    for row, example in zip(together, examples, strict=True):
        same(row[:len(example.target.tokens)], model(PairBatch.of([example], pad=0))[0])


@pytest.mark.parametrize("residual", [PostNorm, PreNorm])
def test_transformer_writes_with_its_cache_what_it_writes_without(residual: type[Residual]) -> None:
    model = transformer(residual)
    batch = PairBatch.of([pair([7, 8, 9], [20, 21, 22]), pair([11], [22, 23, 24])], pad=0)
    whole, state = model(batch), model.start(batch.source)
    for t in range(4):
        same(model.step(batch.target.tokens[:, t:t + 1], state), whole[:, t])
    again = model.start(batch.source)
    model.step(batch.target.tokens[:, :2], again)
    again.select(torch.tensor([1, 0, 1]))
    same(model.step(batch.target.tokens[[1, 0, 1], 2:3], again), whole[[1, 0, 1], 2])


def test_transformer_scales_its_embeddings_and_adds_sinusoids() -> None:
    """§3.4: token vectors times √d; one matrix for source, target and output."""
    model = transformer()
    batch = PairBatch.of([pair([7, 8, 9], [20, 21])], pad=0)
    with watch(model, "*.embedded", "decoder.layers.1.hidden") as seen:
        logits = model(batch)
    for side, half in (("encoder", batch.source), ("decoder", batch.target)):
        place = sinusoid(half.position_ids[:, 0], 12).double()
        torch.testing.assert_close(seen[f"{side}.embedded"], model.token.weight[half.tokens] * 12**0.5 + place,
                                   rtol=0, atol=1e-6)
    same(logits, seen["decoder.layers.1.hidden"] @ model.token.weight.T)


def test_transformer_smooths_its_labels() -> None:
    """Eq. of §5.4: 1 − ε on the target, ε spread over the vocabulary, the target too."""
    model = transformer()
    batch = PairBatch.of([pair([7, 8], [20, 21, 22]), pair([7], [23])], pad=0)
    logs = model(batch).log_softmax(-1)
    asked = batch.targets != IGNORE
    chosen = logs[asked].gather(-1, batch.targets[asked][:, None])[:, 0]
    same(model.loss(batch), -(0.9 * chosen + 0.1 * logs[asked].mean(-1)).mean())


def test_gpt_loss_is_the_cross_entropy_in_nats() -> None:
    model, batch = gpt(GPT2), Batch.of([causal([9, 10], vocab=VOCAB, rng=Random(0))], pad=0)
    logits = model(batch)[0]
    same(model.loss(batch), -sum(F.log_softmax(logits[t], -1)[target] for t, target in enumerate((9, 10, 6))) / 3)


@pytest.mark.parametrize(("kind", "config", "millions"), [
    (GPT2, GPTConfig.base(), 124.4), (BERT, BERTConfig.base(), 109.5), (Transformer, TransformerConfig.base(), 63.1),
])
def test_sizes_of_the_papers(kind: type, config: object, millions: float) -> None:
    with torch.device("meta"):
        model = kind(config)
    assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(millions, abs=0.1)


def test_the_transformer_s_size_is_counted_by_hand() -> None:
    """Where the 63.1 come from, and what would make them table 3's 65: 3.7 thousand tokens more."""
    d, inner, tokens = 512, 2048, 37_000
    attention, norm = 4 * (d * d + d), 2 * d
    feed_forward = d * inner + inner + inner * d + d
    layers = 6 * (attention + feed_forward + 2 * norm) + 6 * (2 * attention + feed_forward + 3 * norm)
    with torch.device("meta"):
        model = Transformer(TransformerConfig.base())
    assert sum(p.numel() for p in model.parameters()) == layers + tokens * d
    assert (65e6 - layers) / d == pytest.approx(40_700, abs=50)


def test_the_register_of_models() -> None:
    assert model_type("gpt2").model is GPT2 and model_type("bert-pretraining").config is BERTConfig
    assert type_of(gpt(GPT2)).name == "gpt2" and type_of(gpt(GPT)).name == "gpt"
    with pytest.raises(ValueError, match=r"unknown model type 'rnnn'; choose one of .*transformer"):
        model_type("rnnn")
    with pytest.raises(ValueError, match="a Linear is not a registered model type"):
        type_of(torch.nn.Linear(1, 1))
