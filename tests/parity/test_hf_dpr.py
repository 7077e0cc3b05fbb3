"""DPR's two encoders against ``transformers``: vectors, gradients, and the conversion in both directions."""

from pathlib import Path
from typing import Any

import pytest
import torch
from parity.alike import gradients, same, shaken
from parity.texts import SIZES, text
from transformers import DPRConfig, DPRContextEncoder, DPRQuestionEncoder, DPRReader

from plmlab.hf import NotLoadable, convert, from_hf, to_hf
from plmlab.hf.links import to_ours
from plmlab.hf.rag import links_of
from plmlab.models.dpr import DPR, DocumentEncoder, QuestionEncoder
from plmlab.models.dpr import DPRConfig as OurConfig

KINDS: dict[type, Any] = {QuestionEncoder: DPRQuestionEncoder, DocumentEncoder: DPRContextEncoder}
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)

pytestmark = pytest.mark.usefixtures("one_thread")


@every_kind
@pytest.mark.parametrize("size", SIZES, ids=["1x8", "3x12", "2x16"])
@pytest.mark.parametrize("lengths", [[1], [7, 7], [3, 17, 8, 2]])
def test_vectors_and_gradients(kind: type, size: dict[str, Any], lengths: list[int]) -> None:
    """With padding on the right; the vector is that of position 0."""
    theirs = shaken(KINDS[kind](DPRConfig(**size)))
    ours = convert(theirs)
    assert type(ours) is kind and not ours.training
    batch, given = text(size["vocab_size"], lengths, size.get("type_vocab_size", 2))
    vectors, expected = ours(batch), theirs(**given).pooler_output
    assert vectors.shape == (len(lengths), ours.config.width)
    same(vectors, expected)
    found = to_ours(links_of(kind, ours.config), dict(zip(
        [name for name, _ in theirs.named_parameters()], gradients(expected, *theirs.parameters()), strict=True)))
    for (name, _), gradient in zip(ours.named_parameters(), gradients(vectors, *ours.parameters()), strict=True):
        learned = slice(1, None) if name == "embeddings.token.weight" else slice(None)  # theirs: not padding
        same(gradient[learned], found.pop(name)[learned])
    assert not found


@every_kind
def test_ours_become_theirs_and_come_back(kind: type, tmp_path: Path) -> None:
    whole = shaken(DPR(OurConfig(31, time=19, layers=2, model=8, heads=2, inner=12, activation="gelu_tanh"))).train()
    ours = whole.question_encoder if kind is QuestionEncoder else whole.document_encoder
    theirs = to_hf(ours)
    assert type(theirs) is KINDS[kind] and theirs.training and theirs.dtype == torch.float64
    theirs.float().eval().save_pretrained(tmp_path)
    for again in (convert(theirs), from_hf(tmp_path)[0]):
        assert type(again) is kind and again.config == ours.config
        for name, weight in again.state_dict().items():
            same(weight, ours.state_dict()[name].float(), 0)
    batch, given = text(31, [4, 9])
    with torch.no_grad():
        same(KINDS[kind].from_pretrained(tmp_path)(**given).pooler_output, ours.float().eval()(batch), 1e-5)


def test_what_ours_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="projection_dim = 5"):
        convert(DPRQuestionEncoder(DPRConfig(**SIZES[0], projection_dim=5)))
    with pytest.raises(NotLoadable, match="the two encoders of dpr"):
        convert(DPRReader(DPRConfig(**SIZES[0])))
    with pytest.raises(ValueError, match="DPR has no counterpart"):
        to_hf(DPR(OurConfig(31)))
