"""GLM: what is still to be filled in reaches no position, company and padding change nothing, and it fills blanks."""

import math
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch
from torch import Tensor, nn

from plmlab import world
from plmlab.checkpoints import load, save
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.bert import at_last_position
from plmlab.models.glm import GLM, GLMConfig, GLMPretraining
from plmlab.models.registry import architecture_of, pretrainable, type_of
from plmlab.models.task_heads import SentenceClassifier
from plmlab.objectives import causal, sequence_classification
from plmlab.objectives.blanks import (
    append_blank,
    blank_infilling,
    blanks_of_pair,
    document_infilling,
    independent_blanks,
    sentence_infilling,
)
from plmlab.objectives.prefix import source_and_target
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.visibility import AttentionMask
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import build_world_tokenizer

VOCAB = Vocabulary(60)
PAD, UNK, CLS, SEP, MASK, START, END = range(7)
SIZE = GLMConfig(60, time=16, layers=3, model=12, heads=3, inner=20, dropout=0.0, attention_dropout=0.0)
TEXTS = [[40, 41, 42, 43, 44, 45, 46, 47], [50], [51, 52, 53], [54, 55, 56, 57, 58]]


def made() -> GLMPretraining:
    """In float64, every weight large enough to matter."""
    torch.manual_seed(3)
    model = GLMPretraining(SIZE).double().eval()
    for place, weight in model.named_parameters():
        nn.init.normal_(weight, mean=float(place.endswith("norm.weight")), std=0.4)
    return model


def same(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def examples() -> list[Example]:
    """Texts of one to eight words under all three objectives, and one with nothing hidden."""
    return [blank_infilling(TEXTS[0], vocab=VOCAB, rng=Random(0), spans=[(1, 2), (3, 6), (7, 8)], order=[1, 2, 0]),
            document_infilling(TEXTS[1], vocab=VOCAB, rng=Random(0)),
            sentence_infilling(TEXTS[2], vocab=VOCAB, rng=Random(0), sentences=[1, 2], select=[0, 1], order=[1, 0]),
            blank_infilling(TEXTS[3], vocab=VOCAB, rng=Random(0), spans=[])]


def test_padding_and_company_change_nothing() -> None:
    """Neither a position's vector, nor how likely a blank is filled as it was."""
    model, losses = made(), []
    together = Batch.of(examples(), pad=PAD)
    for row, one in zip(model(together), examples(), strict=True):
        alone = Batch.of([one], pad=PAD)
        same(row[:len(one.tokens)], model(alone)[0])
        if (count := int((one.targets != IGNORE).sum())):
            losses.append((model.loss(alone), count))
    same(model.loss(together), sum(loss * n for loss, n in losses) / sum(n for _, n in losses))


@torch.no_grad()
def test_a_blank_is_as_likely_as_its_words_one_after_the_other() -> None:
    """The chain rule: each beginning of Part B read by itself, under UniLM's mask from source to target."""
    model, one = made(), examples()[0]
    logprobs = model(Batch.of([one], pad=PAD))[0].log_softmax(-1)
    assert one.tokens[:8].tolist() == [40, MASK, 42, MASK, 46, MASK, START, 43]
    for position in range(6, len(one.tokens)):
        prefix = replace(one, tokens=one.tokens[:position + 1], position_ids=one.position_ids[:, :position + 1],
                         segments=one.segments[:position + 1], targets=one.targets[:position + 1],
                         visible=source_and_target(6, position - 5))
        same(model(Batch.of([prefix], pad=PAD))[0, -1].log_softmax(-1), logprobs[position])
    asked = one.targets != IGNORE
    same(model.loss(Batch.of([one], pad=PAD)), -logprobs[asked].gather(1, one.targets[asked][:, None]).mean())


def test_what_is_filled_in_later_reaches_no_position_over_three_layers() -> None:
    """Each position in turn shows another word: just those positions say something else that may see it; so no position
    knows what it must say."""
    model = made()
    batch = Batch.of(examples(), pad=PAD)
    before, real = model(batch).detach(), batch.padding_mask
    looks = batch.visible.dense(*[batch.size[1]] * 2)
    assert looks is not None and not bool(real.all())
    changed, hidden = 0, 0
    for position in range(batch.size[1]):
        tokens = batch.tokens.clone()
        tokens[:, position] = 39
        moved = (model(replace(batch, tokens=tokens)) - before).abs().amax(-1).detach()
        sees = looks[:, 0, :, position] & real
        assert (moved[sees & real[:, position:position + 1]] > 1e-6).all()
        assert (moved[real & ~sees] < 1e-12).all()
        changed, hidden = changed + int(sees.sum()), hidden + int((real & ~sees).sum())
    assert changed > 100 and hidden > 100


def test_both_positions_count() -> None:
    """Two blanks of the same words differ by the first, two words of one blank by the second, and Part A by both."""
    model, one = made(), examples()[0]
    batch = Batch.of([one], pad=PAD)
    for axis in range(2):
        moved = batch.position_ids.clone()
        moved[:, axis] += 1
        assert (model(replace(batch, position_ids=moved)) - model(batch)).abs().amax(-1).min() > 1e-6
    with pytest.raises(ValueError, match="takes two position ids per token, but this batch has 1"):
        model(Batch.of([causal([40, 41], vocab=VOCAB, rng=Random(0))], pad=PAD))


@pytest.mark.parametrize("count", [15, 16])
def test_how_long_a_text_may_be(count: int) -> None:
    """``time`` is the last position: of so many words one less may be one blank, whose [START] has a position too."""
    model, whole = made(), document_infilling([40] * count, vocab=VOCAB, rng=Random(0), span=(0, count))
    if count < SIZE.time:
        assert model(Batch.of([whole], pad=PAD)).shape == (1, count + 2, 60)
    else:
        with pytest.raises(ValueError, match=r"a blank, with its \[START\], has 17 tokens, but the model has"):
            model(Batch.of([whole], pad=PAD))
    with pytest.raises(ValueError, match="Part A has 17 tokens, but the model has only 16 positions"):
        model(Batch.of([append_blank([40] * 16, None, VOCAB)], pad=PAD))


@pytest.mark.parametrize("count", [16, 17, 18, 40])
def test_how_long_a_text_without_blanks_may_be(count: int) -> None:
    """To the last position; one word more is told as many are, in one text of a batch or alone."""
    model, text = made(), blank_infilling([40] * count, vocab=VOCAB, rng=Random(0), spans=())
    for together in ([text], [examples()[0], text]):
        if count == SIZE.time:
            assert model(Batch.of(together, pad=PAD)).shape[1] >= count
        else:
            with pytest.raises(ValueError, match=f"Part A has {count} tokens, but the model has only 16 positions"):
                model(Batch.of(together, pad=PAD))


def test_all_weights_learn() -> None:
    model = made()
    model.loss(Batch.of(examples(), pad=PAD)).backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None and weight.grad.any(), name


def test_what_it_is_made_of() -> None:
    """Of BERT's parts neither segments, nor the norm of the embeddings, nor the pooler, nor the layer before the
    output, nor its bias; and a norm at the end. Residual projections begin with a spread of 0.02 / √(2 · layers)."""
    model = GLMPretraining(GLMConfig(2000, 64, 8, 64, 4, 256))
    names = {name for name, _ in model.named_parameters()}
    assert {name for name in names if ".layers." not in name} == {
        "encoder.embeddings.token.weight", "encoder.embeddings.position.weight",
        "encoder.embeddings.position_in_blank.weight",
        "encoder.final_norm.weight", "encoder.final_norm.bias"}
    for name, weight in model.named_parameters():
        if name.endswith(("out.weight", "down.weight")):
            assert weight.std().item() == pytest.approx(0.02 / 4, rel=0.05), name
        elif weight.dim() == 2:
            assert weight.std().item() == pytest.approx(0.02, rel=0.05), name
        else:
            assert set(weight.tolist()) == {float(name.endswith("norm.weight"))}, name
    assert not hasattr(model, "next_sentence_logits") and model.encoder is model.encoder
    assert GLMConfig.tiny(60, 20) == GLMConfig(60, 20, dropout=0.0, attention_dropout=0.0)


def test_the_paper_s_size() -> None:
    """110 million parameters, counted by hand: twelve layers, 30,592 tokens, two tables of 513 positions, a norm."""
    d, inner = 768, 3072
    layer = 4 * (d * d + d) + d * inner + inner + inner * d + d + 4 * d
    with torch.device("meta"):
        model = GLMPretraining(GLMConfig.base())
    count = sum(weight.numel() for weight in model.parameters())
    assert count == 12 * layer + (30_592 + 2 * 513) * d + 2 * d == 109_338_624 and round(count / 1e7) == 11


def test_dropout_is_off_where_it_is_asked() -> None:
    model, batch = GLMPretraining(replace(SIZE, dropout=0.5)), Batch.of(examples()[:1], pad=PAD)
    assert not torch.equal(model(batch), model(batch))
    model.eval()
    assert torch.equal(model(batch), model(batch))


def test_how_it_is_registered() -> None:
    kind = pretrainable()["glm"]
    assert kind.model is GLMPretraining and kind.pretraining is not None and type_of(made()) is kind
    assert (kind.pretraining.objective, kind.pretraining.pairs) == (blank_infilling, blanks_of_pair)
    reads = architecture_of(made().encoder)
    assert reads.name == "encoder" and (reads.example, reads.cloze_input) == (append_blank, independent_blanks)


def test_a_text_is_summed_up_where_its_blank_is_to_be_filled() -> None:
    """Ragged texts, by the vector of [START]; a classifier stands on it, and learns which sentence comes first."""
    model = made().encoder
    batch = Batch.of([append_blank(TEXTS[0], TEXTS[2], VOCAB), append_blank(TEXTS[1], None, VOCAB)], pad=PAD)
    hidden = model(batch)
    for summed in (model.pooled_output(batch), model.pool(hidden, batch)):
        same(summed, torch.stack([hidden[0, 13], hidden[1, 2]]))
    assert batch.tokens[0, 13] == batch.tokens[1, 2] == START
    head = SentenceClassifier.from_pretrained(model).float()
    asked = Batch.of([sequence_classification(a, kind, pair=b, vocab=VOCAB, layout=append_blank) for a, b, kind in (
        ([40], [41], 0), ([41], [40], 1))], pad=PAD)
    fit(head, lambda _: asked, steps=60, lr=0.02, warmup=5, show=False)
    with torch.no_grad():
        assert head.eval().loss(asked) < 0.1 * math.log(2)


def test_the_last_position_is_found_wherever_padding_stands() -> None:
    hidden, real = torch.randn(3, 4, 5), torch.tensor([[1, 1, 1, 0], [0, 0, 1, 1], [0, 1, 0, 0]]).bool()
    batch = Batch(real.long(), torch.arange(4)[None, None], real.long(), AttentionMask(keys=real), real.long())
    for text, position in enumerate((2, 3, 1)):
        assert at_last_position(hidden, batch)[text].equal(hidden[text, position])


def test_it_fills_blanks_and_is_saved(tmp_path: Path) -> None:
    """On the Small World it gets far below what it knew at first; saved and loaded, it says the same."""
    small = world.small()
    tokenizer = build_world_tokenizer(small, ["english"])
    torch.manual_seed(0)
    model = GLMPretraining(GLMConfig(len(tokenizer), 32, 2, 16, 2, 32, dropout=0.0, attention_dropout=0.0))
    history = fit(model, sentence_batches(small, "train", tokenizer, blank_infilling, 8, 0), steps=30, lr=0.02,
                  warmup=5, show=False)
    assert history.smoothed(10)[-1] < 0.8 * history.losses[0]
    save(tmp_path / "model", model, tokenizer, command="x", figures={})
    again, words = load(tmp_path / "model", expect="glm-pretraining")
    assert type(again) is GLMPretraining and again.config == model.config and len(words) == len(tokenizer)
    batch = Batch.of([blank_infilling(words.encode(" ".join(next(small.text("test")))), vocab=words.vocab,
                                      rng=Random(0))], pad=PAD)
    with torch.no_grad():
        assert torch.equal(model.eval()(batch), again(batch))
    save(tmp_path / "encoder", model.encoder, tokenizer, command="x", figures={})
    assert type(load(tmp_path / "encoder", expect="glm")[0]) is GLM
