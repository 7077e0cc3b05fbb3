"""Our RoBERTa against ``RobertaModel`` and ``RobertaForMaskedLM``, whose positions begin behind the padding's id."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from alike import same, same_masked_lm, shaken
from bert_family import made, padded_text, precisions, same_encoders, same_gradients, texts, there_and_back
from bert_family import through_a_folder as saved_and_loaded
from torch import Tensor, nn
from transformers import RobertaConfig, RobertaForMaskedLM, RobertaModel

from plmlab.example import Batch
from plmlab.hf import convert, to_hf
from plmlab.hf.links import within
from plmlab.hf.readable import HFModel
from plmlab.hf.roberta import ROBERTAS
from plmlab.models.bert import BERTPretraining
from plmlab.models.roberta import RoBERTa, RoBERTaPretraining
from plmlab.models.roberta import RoBERTaConfig as OurConfig

pytestmark = pytest.mark.filterwarnings("ignore:the weights contain no encoder")
SIZES = [
    {"vocab_size": 31, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 12},
    {"vocab_size": 40, "hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 20,
     "max_position_embeddings": 19, "layer_norm_eps": 1e-3},
    {"vocab_size": 40, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20,
     "pad_token_id": 3},
]
sizes = pytest.mark.parametrize("size", SIZES)
KINDS = {RobertaModel: RoBERTa, RobertaForMaskedLM: RoBERTaPretraining}
kinds = pytest.mark.parametrize("kind", KINDS)


def config(size: dict, **more: object) -> RobertaConfig:
    return RobertaConfig(**size | {"type_vocab_size": 1} | more, attn_implementation="eager")


def read(size: dict, lengths: list[int], side: str) -> tuple[Batch, dict[str, Tensor]]:
    """Texts whose positions count from the first real token; theirs counts by itself, and is given no segments."""
    batch, given = padded_text(size["vocab_size"], lengths, side, size.get("pad_token_id", 1))
    del given["token_type_ids"]
    counted = (given["attention_mask"].cumsum(1) - 1).clamp(min=0)
    return replace(batch, position_ids=counted[:, None]), given


@texts
@sizes
def test_encoder(size: dict, lengths: list[int], side: str) -> None:
    """Segments, which the batch has, change nothing."""
    theirs = made(RobertaModel, config(size))
    batch, given = read(size, lengths, side)
    ours = same_encoders(theirs, batch, given)
    assert batch.segments.any() or lengths == [1]
    if side == "right":
        same(ours.pooled_output(batch), theirs(**given).pooler_output)


@texts
@sizes
def test_loss_and_gradients(size: dict, lengths: list[int], side: str) -> None:
    theirs = made(RobertaForMaskedLM, config(size))
    ours = convert(theirs)
    batch, given = read(size, lengths, side)
    same_masked_lm(ours, theirs, batch, given)
    same_gradients(ours, theirs, [*within("encoder", ROBERTAS.links(ours.config)), *ROBERTAS.head])


@precisions
@kinds
def test_there_and_back(kind: type, precision: torch.dtype) -> None:
    there_and_back(made(kind, config(SIZES[1])), KINDS[kind], precision, reserved=2)
    assert convert(made(kind, config(SIZES[1]))).config.time == 17


@pytest.mark.parametrize("size", SIZES[1:])
@kinds
def test_through_a_folder(kind: type, size: dict, tmp_path: Path) -> None:
    """The pooler of a ``RobertaModel`` comes along, and so does the id of the padding."""
    saved_and_loaded(made(kind, config(size)), *read(size, [9, 9], "right"), tmp_path)


def test_our_own_padding_is_theirs() -> None:
    """In our vocabularies padding is token 0, so that theirs begins to count at 1; [UNK], token 1, is a word like any
    other."""
    ours = shaken(RoBERTa(OurConfig(30, time=20, layers=2, model=8, heads=2, inner=12)))
    theirs = to_hf(ours)
    assert theirs.config.max_position_embeddings == 21 and theirs.config.pad_token_id == 0
    batch, given = read({"vocab_size": 30, "pad_token_id": 0}, [9, 4], "left")
    batch.tokens[0, 3] = 1
    real = given["attention_mask"].bool()
    same(ours(batch)[real], theirs(**given | {"input_ids": batch.tokens})[0][real])
    right, given = read({"vocab_size": 30, "pad_token_id": 0}, [9, 9], "right")
    same(HFModel(theirs)(right)[0], ours(right))


@pytest.mark.parametrize(("settings", "message"), [
    ({"type_vocab_size": 2}, "type_vocab_size = 2; ours only supports 1"),
    ({"hidden_act": "relu"}, "hidden_act = 'relu'; ours only supports 'gelu'"),
    ({"is_decoder": True}, "is_decoder = True"),
])
def test_what_ours_does_not_do_is_refused(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        convert(RobertaModel(config(SIZES[0], **settings)))


def test_what_theirs_does_not_do_is_refused() -> None:
    small = {"vocab": 40, "time": 9, "layers": 1, "model": 8, "heads": 2, "inner": 8}
    for more, told in (({"segments": 2}, "segments = 2"), ({"activation": "relu"}, "activation = 'relu'")):
        with pytest.raises(ValueError, match=f"{told}; theirs only supports"):
            to_hf(RoBERTa(OurConfig(**small, **more)))


def test_it_is_bert_without_the_second_head() -> None:
    """The loss is that of a BERT with the same weights, on a batch without a next-sentence label."""
    ours = shaken(RoBERTaPretraining(OurConfig(40, time=20, layers=2, model=8, heads=2, inner=12)))
    bert: nn.Module = BERTPretraining(ours.config).double()
    missing = bert.load_state_dict(ours.state_dict(), strict=False).missing_keys
    assert missing == ["next_sentence.weight", "next_sentence.bias"]
    batch, _ = read(SIZES[1], [9, 4], "right")
    same(ours.loss(batch), bert.eval().loss(replace(batch, segments=torch.zeros_like(batch.segments))))
    assert not hasattr(ours, "next_sentence")
