"""Every model that is pretrained, in bf16: gradients are finite and those of float32, even where a query sees no key.

In a batch whose Examples have a mask each, padding sees nothing; here it stands on the right, and on the left too.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random

import pytest
import torch
from fake_gpu import fake_gpu
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.batches import collate
from plmlab.example import IGNORE, AnyBatch, Batch, BidirectionalBatch, PairBatch, PairExample
from plmlab.layers.attention import MultiHeadAttention
from plmlab.layers.recurrent import Recurrent
from plmlab.models.registry import MODELS, all_models, pretrainable
from plmlab.objectives import causal, masked
from plmlab.text import Tokenizer
from plmlab.text.text import Named
from plmlab.visibility import AttentionMask, Visibility

TEXTS = ["the cat sees the house .", "the dog of the king hears the river of the queen .", "the king sees ."]
PAIRS = ["seq2seq", "dot-seq2seq", "general-seq2seq", "two-way-seq2seq", "additive-seq2seq", "transformer", "at", "fat",
         "speed-transformer"]
SIXTY_FOUR = 64
"""So many positions in all, most of them padding: the number at which cuDNN's gradients were not finite."""
WITHIN = 0.2
"""Of the gradient's length: most are within 0.006, and Transformer-XL, whose scores are written down, within 0.07."""

ON = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
pytestmark = pytest.mark.usefixtures("one_thread")


@cache
def refuses_bf16_lstm() -> bool:
    """Whether PyTorch's own LSTM fails in bf16 on this processor, if gradients are needed."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        try:
            nn.LSTM(4, 4, batch_first=True)(torch.zeros(1, 3, 4))
        except RuntimeError:
            return True
    return False


def made(name: str) -> tuple[nn.Module, AnyBatch]:
    """A little model of a type, and texts of different lengths for it to learn from."""
    rng = Random(0)
    if name in PAIRS:
        tokenizer, kind = Tokenizer.words(TEXTS, 100), all_models()[name]
        ids = [tokenizer.encode(text, plain=True) for text in TEXTS]
        pairs = []
        for source, target in zip(ids, ids[1:] + ids[:1], strict=True):
            read, wrote = (by(part, vocab=tokenizer.vocab, rng=rng)
                           for by, part in ((masked, source), (causal, target)))
            pairs.append(PairExample(read, wrote, Visibility.full(len(wrote.tokens), len(read.tokens))))
        torch.manual_seed(0)
        return kind.model(replace(kind.config.tiny(len(tokenizer)), dropout=0.0)).eval(), PairBatch.of(pairs, pad=0)
    kind = pretrainable()[name]
    how = kind.pretraining
    assert how
    tokenizer = how.learn(iter(TEXTS * 4), 330)
    examples = [how.objective(tokenizer.text(Named(text, [(4, 7)]), plain=True), vocab=tokenizer.vocab, rng=rng)
                for text in TEXTS]
    batch = collate(examples, 0)
    torch.manual_seed(0)
    model = kind.model(kind.config.tiny(len(tokenizer), 64)).eval()
    if how.prepare:
        how.prepare(model, tokenizer, lambda step: batch)
    return model, batch


def with_padding_before(batch: AnyBatch, positions: Callable[[int], int]) -> AnyBatch:
    """The same texts after padding, whose queries see nothing; ``positions``: a length → how much of it."""
    def shifted(mask: AttentionMask, rows: int, query: int, key: int) -> AttentionMask:
        dense = mask.dense(query, key)
        looks = torch.ones(rows, 1, query, key, dtype=torch.bool) if dense is None else dense
        return AttentionMask(pairs=F.pad(looks[:, 0].expand(rows, query, key),
                                         (positions(key), 0, positions(query), 0)))

    def later(rows: Tensor, fill: int = 0) -> Tensor:
        return F.pad(rows, (positions(rows.shape[-1]), 0), value=fill)

    def moved(label: Tensor) -> Tensor:
        """The boundaries of spans are positions, [batch time 2]; a label of each position has none."""
        if label.shape == batch.targets.shape:
            return later(label, IGNORE)
        before = positions(label.shape[1]) if label.dim() == 3 else 0
        return F.pad(torch.where(label == IGNORE, IGNORE, label + before), (0, 0, before, 0), value=IGNORE) if before \
            else label

    if isinstance(batch, BidirectionalBatch):
        return BidirectionalBatch(*(with_padding_before(side, positions) for side in (batch.forwards, batch.backwards)))
    if isinstance(batch, PairBatch):
        cross = shifted(batch.cross, batch.target.size[0], batch.target.size[1], batch.source.size[1])
        return PairBatch(with_padding_before(batch.source, positions), with_padding_before(batch.target, positions),
                         cross)
    rows, time = batch.size
    second = batch.query_stream_mask
    return Batch(later(batch.tokens), later(batch.position_ids), later(batch.segments),
                 shifted(batch.visible, rows, time, time), later(batch.targets, IGNORE),
                 {name: moved(label) for name, label in batch.labels.items()},
                 None if second is None else shifted(second, rows, time, time))


def loss_and_gradient(model: nn.Module, batch: AnyBatch, bf16: bool) -> tuple[float, Tensor]:
    model.zero_grad()
    torch.manual_seed(0)  # for the noise that word2vec draws
    with torch.autocast(batch.targets.device.type, torch.bfloat16, enabled=bf16):
        loss = model.loss(batch)
    loss.backward()
    return loss.item(), torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


@ON
@pytest.mark.parametrize("before", [0, 3, SIXTY_FOUR], ids=["padding behind", "padding before", "64 positions"])
@pytest.mark.parametrize("name", [*sorted(pretrainable()), *PAIRS])
def test_bf16_has_the_gradients_of_float32(name: str, before: int, device: str) -> None:
    model, batch = made(name)
    if device == "cpu" and refuses_bf16_lstm() and any(isinstance(part, Recurrent) for part in model.modules()):
        pytest.skip("PyTorch has no LSTM kernel in bf16 for this processor")
    assert (batch.targets == IGNORE).any()
    if before:
        batch = with_padding_before(batch, lambda time: SIXTY_FOUR - time if before == SIXTY_FOUR else before)
    model, batch = model.to(device), batch.to(device)
    (exact, gradient), (loss, rounded) = (loss_and_gradient(model, batch, bf16) for bf16 in (False, True))
    assert torch.isfinite(gradient).all() and torch.isfinite(rounded).all()
    assert loss == pytest.approx(exact, rel=0.01)
    assert (gradient - rounded).norm() < WITHIN * gradient.norm()


def test_no_other_model_attends_in_a_way_of_its_own() -> None:
    """What is not trained above is built of the encoders that are."""
    trained = {kind.model for kind in pretrainable().values()} | {MODELS[name].model for name in PAIRS}
    ours = {name: kind.model for name, kind in MODELS.items() if kind.model.__module__.startswith("plmlab.")}
    with torch.device("meta"):
        known = {type(part) for kind in MODELS.values() if kind.model in trained
                 for part in kind.model(kind.config.tiny(64)).modules() if isinstance(part, MultiHeadAttention)}
        for name, cls in ours.items():
            used = {type(part) for part in cls(MODELS[name].config.tiny(64)).modules()
                    if isinstance(part, MultiHeadAttention)}
            assert used <= known, name


@pytest.mark.parametrize("masked", [False, True])
def test_under_a_mask_a_gpu_never_uses_cudnn_s_kernel(masked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its gradients are not finite where a query sees nothing (PyTorch's issue 196678)."""
    allowed: list[bool] = []
    real = F.scaled_dot_product_attention

    def seen(*given: Tensor, **how: object) -> Tensor:
        allowed.append(torch.backends.cuda.cudnn_sdp_enabled())
        return real(*given, **how)

    monkeypatch.setattr(F, "scaled_dot_product_attention", seen)
    with fake_gpu():
        x, looks = torch.randn(2, 5, 8, device="cuda"), torch.ones(2, 5, 5, dtype=torch.bool, device="cuda")
        mask = AttentionMask(pairs=looks) if masked else AttentionMask(causal=True)
        MultiHeadAttention(8, 2).to("cuda")(x, mask)
        MultiHeadAttention(8, 2).to("cuda")(x, mask, bias=torch.zeros(2, 2, 5, 5, device="cuda"))
    assert allowed == [not masked, False]
