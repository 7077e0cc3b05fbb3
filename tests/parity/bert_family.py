"""What the parity tests of RoBERTa, ALBERT and ELECTRA share: texts padded on either side, and comparisons with
``transformers`` of encoders, gradients and conversions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from alike import same, shaken
from texts import text
from torch import Tensor, nn

from plmlab.example import IGNORE, Batch
from plmlab.hf import convert, from_hf, to_hf
from plmlab.hf.links import Link, to_ours
from plmlab.interpret import watch
from plmlab.visibility import AttentionMask

texts = pytest.mark.parametrize(("lengths", "side"), [([1], "right"), ([9, 9], "right"), ([17, 4, 11], "right"),
                                                      ([17, 4, 11], "left")])
precisions = pytest.mark.parametrize("precision", [torch.float32, torch.float64])


def shifted(rows: Tensor, lengths: Sequence[int]) -> Tensor:
    """Each row with its padding moved from the right to the left."""
    return torch.stack([row.roll(len(row) - n, 0) for row, n in zip(rows, lengths, strict=True)])


def padded_text(vocab: int, lengths: list[int], side: str, pad: int = 0) -> tuple[Batch, dict[str, Tensor]]:
    """Random texts for both models, padded on one side with the token ``pad``, which occurs nowhere else. Position ids
    count the columns, as in ``transformers``."""
    batch, given = text(vocab - pad, lengths)
    given["input_ids"] = given["input_ids"] + pad
    targets = torch.where(batch.targets == IGNORE, IGNORE, batch.targets + pad)
    if side == "left":
        given, targets = {name: shifted(rows, lengths) for name, rows in given.items()}, shifted(targets, lengths)
    real = given["attention_mask"].bool()
    return replace(batch, tokens=given["input_ids"], segments=given["token_type_ids"], targets=targets, labels={},
                   visible=AttentionMask(keys=None if real.all() else real)), given


def same_encoders(theirs: nn.Module, batch: Batch, given: dict[str, Tensor]) -> nn.Module:
    """Our encoder against theirs: hidden states, attention weights and pooled output, and what hook points record in
    theirs. Returns ours."""
    ours, real = convert(theirs), given["attention_mask"].bool()
    expected = theirs(**given, output_hidden_states=True, output_attentions=True)
    with watch(ours) as seen:
        hidden = ours(batch)
    with watch(theirs) as inside:
        theirs(**given)
    same(hidden[real], expected.last_hidden_state[real])
    for record in (seen, inside):
        assert len(record.attention()) == len(expected.attentions) == ours.config.layers
        for mine, other in zip(record.hidden()[1:], expected.hidden_states[1:], strict=True):
            same(mine[real], other[real])
        for mine, other in zip(record.attention(), expected.attentions, strict=True):
            same(mine * real[:, None, :, None], other * real[:, None, :, None])
    same(seen["embedded"][real], inside["embedded"][real])
    return ours


def same_gradients(ours: nn.Module, theirs: nn.Module, links: list[Link]) -> None:
    """Of every weight that the loss depends on; ``links`` covers all weights of theirs that have a gradient."""
    grads = {name: p.grad for name, p in theirs.named_parameters() if p.grad is not None}
    assert set(grads) <= {link.theirs for link in links}
    others = to_ours([link for link in links if link.theirs in grads], grads)
    for name, parameter in ours.named_parameters():
        if parameter.grad is not None:
            same(parameter.grad, others.pop(name))
    assert not others


def there_and_back(theirs: nn.Module, kind: type[nn.Module], precision: torch.dtype, reserved: int = 0) -> None:
    """All weights but the ``reserved`` positions that no token has."""
    ours = convert(theirs).to(precision)
    again = to_hf(ours)
    assert type(ours) is kind and type(again) is type(theirs) and again.dtype == precision and not again.training
    for (name, a), (other, b) in zip(again.named_parameters(), theirs.named_parameters(), strict=True):
        rows = slice(reserved, None) if name.endswith("position_embeddings.weight") else slice(None)
        assert name == other and torch.equal(a[rows], b[rows].to(precision)), name
    assert convert(again).config == ours.config and convert(again.train()).training


def through_a_folder(theirs: nn.Module, batch: Batch, given: dict[str, Tensor], folder: Path) -> None:
    """What ours saves, ``transformers`` and ``from_hf`` load, and all give the same outputs."""
    ours = convert(theirs.float())
    to_hf(ours).save_pretrained(folder)
    loaded, tokenizer = from_hf(folder)
    assert type(loaded) is type(ours) and tokenizer is None and loaded.config == ours.config and not loaded.training
    with torch.no_grad():
        expected, again = theirs(**given)[0], type(theirs).from_pretrained(folder).eval()(**given)[0]
        same(again, expected, 1e-5)
        same(loaded(batch), expected, 1e-5)


def made(kind: type[nn.Module], config: object) -> nn.Module:
    """A model of theirs with random weights."""
    return shaken(kind(config))
