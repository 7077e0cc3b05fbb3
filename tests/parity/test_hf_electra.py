"""Our ELECTRA against ``ElectraModel``, ``ElectraForMaskedLM``, ``ElectraForPreTraining``, and the two together."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from alike import same, same_masked_lm, shaken
from bert_family import made, padded_text, precisions, same_encoders, same_gradients, texts, there_and_back
from bert_family import through_a_folder as saved_and_loaded
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import ElectraConfig, ElectraForMaskedLM, ElectraForPreTraining, ElectraModel

from plmlab.example import IGNORE
from plmlab.hf import convert, to_hf
from plmlab.hf.electra import DISCRIMINATORS, GENERATORS
from plmlab.hf.families import Family
from plmlab.hf.links import Link, to_ours, within
from plmlab.models import electra
from plmlab.models.electra import (
    ELECTRA,
    ELECTRADiscriminator,
    ELECTRAGenerator,
    ELECTRAPretraining,
    ELECTRAPretrainingConfig,
)

pytestmark = pytest.mark.filterwarnings("ignore:the weights contain no")
SIZES = [
    {"vocab_size": 31, "embedding_size": 8, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1,
     "intermediate_size": 12},
    {"vocab_size": 40, "embedding_size": 10, "hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 3,
     "intermediate_size": 20, "max_position_embeddings": 17, "layer_norm_eps": 1e-3, "type_vocab_size": 3},
    {"vocab_size": 40, "embedding_size": 14, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2,
     "intermediate_size": 20},
]
sizes = pytest.mark.parametrize("size", SIZES)
KINDS = {ElectraModel: ELECTRA, ElectraForMaskedLM: ELECTRAGenerator, ElectraForPreTraining: ELECTRADiscriminator}
kinds = pytest.mark.parametrize("kind", KINDS)


def config(size: dict, **more: object) -> ElectraConfig:
    return ElectraConfig(**size | more, attn_implementation="eager")


def links_of(family: Family, model: nn.Module) -> list[Link]:
    return [*within("encoder", family.links(model.config)), *family.head]


@texts
@sizes
def test_encoder(size: dict, lengths: list[int], side: str) -> None:
    same_encoders(made(ElectraModel, config(size)), *padded_text(size["vocab_size"], lengths, side))


@texts
@sizes
def test_generator(size: dict, lengths: list[int], side: str) -> None:
    theirs = made(ElectraForMaskedLM, config(size))
    ours = convert(theirs)
    batch, given = padded_text(size["vocab_size"], lengths, side)
    same_masked_lm(ours, theirs, batch, given)
    same_gradients(ours, theirs, links_of(GENERATORS, ours))


def judged(theirs: nn.Module, given: dict[str, Tensor], replaced: Tensor) -> Tensor:
    """Their loss, which they round to float32, from their logits in float64."""
    told, real = theirs(**given, labels=replaced.long()), given["attention_mask"].bool()
    loss = F.binary_cross_entropy_with_logits(told.logits[real], replaced[real].double())
    same(loss, told.loss.double(), 1e-5)
    return loss


@texts
@sizes
def test_discriminator(size: dict, lengths: list[int], side: str) -> None:
    theirs = made(ElectraForPreTraining, config(size))
    ours = convert(theirs)
    batch, given = padded_text(size["vocab_size"], lengths, side)
    replaced = given["input_ids"] % 3 == 1
    real = given["attention_mask"].bool()
    same(ours(batch)[real], theirs(**given).logits[real])
    loss, expected = ours.replaced_token_loss(batch, replaced), judged(theirs, given, replaced)
    same(loss, expected)
    loss.backward()
    expected.backward()
    same_gradients(ours, theirs, links_of(DISCRIMINATORS, ours))


@pytest.mark.parametrize("embedding", [None, 10])
@texts
def test_the_total_loss_is_that_of_both_of_theirs(lengths: list[int], side: str, embedding: int | None,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other sample happens to be the original token. The gradient of a shared embedding is the sum of both."""
    ours = shaken(ELECTRAPretraining(ELECTRAPretrainingConfig(
        40, time=17, layers=2, model=12, heads=3, inner=20, segments=2, embedding=embedding, fraction=1 / 3)))
    generator, discriminator = to_hf(ours.generator), to_hf(ours.discriminator)
    assert (type(generator), type(discriminator)) == (ElectraForMaskedLM, ElectraForPreTraining)
    batch, given = padded_text(40, lengths, side)
    is_target = batch.targets != IGNORE
    given["input_ids"] = batch.tokens.masked_fill(is_target & (batch.tokens % 5 > 0), 4)
    order = torch.arange(int(is_target.sum()))
    samples = torch.where(order % 2 == 0, batch.targets[is_target], (batch.targets[is_target] + 1) % 40)
    monkeypatch.setattr(electra, "sample", lambda logits: samples)
    loss = ours.loss(replace(batch, tokens=given["input_ids"]))

    shown = given["input_ids"].clone()
    shown[is_target] = samples
    originals = given["input_ids"].clone()
    originals[is_target] = batch.targets[is_target]
    assert (shown != originals).sum() == len(samples) // 2
    mlm = generator(**given, labels=batch.targets).loss
    expected = mlm + 50 * judged(discriminator, given | {"input_ids": shown}, shown != originals)
    same(loss, expected)

    loss.backward()
    expected.backward()
    grads: dict[str, Tensor] = {}
    parts = (("discriminator", DISCRIMINATORS, discriminator), ("generator", GENERATORS, generator))
    for part, family, theirs in parts:
        links = within(part, links_of(family, getattr(ours, part)))
        for name, grad in to_ours(links, {name: p.grad for name, p in theirs.named_parameters()}).items():
            shared = name.replace("generator", "discriminator") if ".embeddings." in name and "project" not in name \
                else name
            grads[shared] = grads.get(shared, 0) + grad
    for name, parameter in ours.named_parameters():
        if ".pooler." in name:
            assert parameter.grad is None
        else:
            same(parameter.grad, grads.pop(name), 1e-9)
    assert not grads


@precisions
@kinds
def test_there_and_back(kind: type, precision: torch.dtype) -> None:
    there_and_back(made(kind, config(SIZES[1])), KINDS[kind], precision)


@pytest.mark.parametrize("size", [SIZES[0], SIZES[2]])
@kinds
def test_through_a_folder(kind: type, size: dict, tmp_path: Path) -> None:
    saved_and_loaded(made(kind, config(size)), *padded_text(size["vocab_size"], [9, 9], "right"), tmp_path)


def test_another_activation_is_refused_both_ways() -> None:
    with pytest.raises(ValueError, match="hidden_act = 'relu'; ours only supports 'gelu'"):
        convert(ElectraModel(config(SIZES[0], hidden_act="relu")))
    with pytest.raises(ValueError, match="activation = 'relu'; theirs only supports 'gelu'"):
        to_hf(ELECTRA(electra.ELECTRAConfig(30, time=9, layers=1, model=8, heads=2, inner=8, activation="relu")))


def test_the_pair_has_no_counterpart_as_one_model() -> None:
    pair = ELECTRAPretraining(ELECTRAPretrainingConfig.tiny(40))
    with pytest.raises(ValueError, match=r"ELECTRAPretraining has no counterpart.*ELECTRAGenerator, ELECTRADiscrim"):
        to_hf(pair)
