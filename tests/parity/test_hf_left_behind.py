"""Every model of ``transformers`` of our families: what ours has no place for is named, and nothing else is."""

import inspect
import warnings
from pathlib import Path

import pytest
import torch
import transformers
from alike import shaken
from mpnets import SIZES as MPNETS
from safetensors.torch import load_file, save_file
from texts import SIZES as BERTS
from transformers import PreTrainedModel
from xlnets import SIZES as XLNETS

from plmlab.hf import from_hf

GPTS = {"vocab_size": 60, "n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 24, "bos_token_id": None,
        "eos_token_id": None, "pad_token_id": 0}
CONFIGS = {"Bert": BERTS[1], "XLNet": XLNETS[1], "MPNet": MPNETS[1], "GPT2": GPTS, "OpenAIGPT": GPTS,
           "Roberta": BERTS[1] | {"type_vocab_size": 1},
           "Albert": BERTS[1] | {"embedding_size": 8, "classifier_dropout_prob": 0.0},
           "Electra": BERTS[1] | {"embedding_size": 8}}
LEFT = {
    "BertForNextSentencePrediction": "cls.seq_relationship", "BertForMultipleChoice": "classifier",
    "GPT2ForSequenceClassification": "score", "GPT2ForTokenClassification": "classifier",
    "GPT2ForQuestionAnswering": "qa_outputs", "GPT2DoubleHeadsModel": "multiple_choice_head.summary",
    "OpenAIGPTForSequenceClassification": "score", "OpenAIGPTDoubleHeadsModel": "multiple_choice_head.summary",
    "XLNetForMultipleChoice": "logits_proj", "MPNetForMultipleChoice": "classifier",
    "RobertaForMultipleChoice": "classifier", "AlbertForMultipleChoice": "classifier",
    "ElectraForMultipleChoice": "classifier, sequence_summary.summary",
    "ElectraForCausalLM": "generator_lm_head, generator_predictions.LayerNorm, generator_predictions.dense",
    "XLNetForQuestionAnswering": "answer_class.dense_0, answer_class.dense_1, end_logits.LayerNorm, "
                                 "end_logits.dense_0, end_logits.dense_1, start_logits.dense",
}
BASES = {"Bert": "BERT", "GPT2": "GPT2", "OpenAIGPT": "GPT", "XLNet": "XLNet", "MPNet": "MPNet",
         "Roberta": "RoBERTa", "Albert": "ALBERT", "Electra": "ELECTRA"}


def family(name: str) -> str:
    return next(family for family in CONFIGS if name.startswith(family))


def everyone() -> list[str]:
    """The classes of models that stand beside each family's base model."""
    rooms = {inspect.getmodule(getattr(transformers, f"{family}Model")) for family in CONFIGS}
    return sorted(name for room in rooms for name, kind in vars(room).items()
                  if inspect.isclass(kind) and issubclass(kind, PreTrainedModel) and kind.__module__ == room.__name__
                  and not name.endswith("PreTrainedModel") and hasattr(transformers, name))


def made(name: str) -> PreTrainedModel:
    base = family(name)
    return shaken(getattr(transformers, name)(getattr(transformers, f"{base}Config")(**CONFIGS[base]))).float()


def test_there_are_as_many_as_are_known() -> None:
    assert set(LEFT) < set(everyone()) and len(everyone()) > 25


@pytest.mark.parametrize("name", everyone())
def test_what_is_left_behind_is_named(name: str, tmp_path: Path) -> None:
    theirs = made(name)
    theirs.save_pretrained(tmp_path)
    for source in (theirs, tmp_path):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            from_hf(source)
        left = [str(warning.message) for warning in told if "are dropped" in str(warning.message)]
        if name in LEFT:
            assert left == [f"{name} is loaded as {BASES[family(name)]}, without {LEFT[name]}: these trained weights "
                            "are dropped"]
        else:
            assert not left and len(told) <= 1


@pytest.mark.parametrize(("name", "pooler"), [
    ("MPNetForMultipleChoice", "mpnet.pooler.dense.weight"),
    ("XLNetForMultipleChoice", "sequence_summary.summary.weight"),
])
def test_a_pooler_comes_along_where_the_head_does_not(name: str, pooler: str, tmp_path: Path) -> None:
    theirs = made(name)
    theirs.save_pretrained(tmp_path)
    for source in (theirs, tmp_path):
        with pytest.warns(UserWarning, match="are dropped"):
            ours, _ = from_hf(source)
        assert torch.equal(ours.pooler.weight, theirs.state_dict()[pooler])


def test_a_head_is_named_where_the_folder_says_no_class(tmp_path: Path) -> None:
    made("GPT2ForSequenceClassification").save_pretrained(tmp_path)
    config = transformers.GPT2Config.from_pretrained(tmp_path)
    config.architectures = None
    config.save_pretrained(tmp_path)
    with pytest.warns(UserWarning, match="gpt2 is loaded as GPT2, without score: these trained weights are dropped"):
        from_hf(tmp_path)


def test_the_masks_in_old_files_are_no_weights(tmp_path: Path) -> None:
    made("GPT2LMHeadModel").save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    old = {f"transformer.h.0.attn.{name}": torch.ones(1, 1, 24, 24) for name in ("bias", "masked_bias")}
    save_file(load_file(file) | old, file, metadata={"format": "pt"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_hf(tmp_path)
