"""Our ALBERT against ``AlbertModel`` and ``AlbertForPreTraining``."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from alike import same
from bert_family import made, padded_text, precisions, same_encoders, same_gradients, texts, there_and_back
from bert_family import through_a_folder as saved_and_loaded
from torch import Tensor
from torch.nn import functional as F
from transformers import AlbertConfig, AlbertForMaskedLM, AlbertForPreTraining, AlbertModel

from plmlab.hf import convert, to_hf
from plmlab.hf.albert import ALBERTS
from plmlab.hf.links import within
from plmlab.interpret import intervene, watch
from plmlab.models.albert import ALBERT, ALBERTPretraining
from plmlab.models.albert import ALBERTConfig as OurConfig

SIZES = [
    {"vocab_size": 31, "embedding_size": 5, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1,
     "intermediate_size": 12},
    {"vocab_size": 40, "embedding_size": 10, "hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 3,
     "intermediate_size": 20, "max_position_embeddings": 17, "layer_norm_eps": 1e-3, "type_vocab_size": 3},
    {"vocab_size": 40, "embedding_size": 14, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2,
     "intermediate_size": 20, "hidden_act": "gelu"},
]
sizes = pytest.mark.parametrize("size", SIZES)
KINDS = {AlbertModel: ALBERT, AlbertForPreTraining: ALBERTPretraining}
kinds = pytest.mark.parametrize("kind", KINDS)


def config(size: dict, **more: object) -> AlbertConfig:
    return AlbertConfig(**size | more, attn_implementation="eager", classifier_dropout_prob=0.0)


@texts
@sizes
def test_encoder(size: dict, lengths: list[int], side: str) -> None:
    theirs = made(AlbertModel, config(size))
    batch, given = padded_text(size["vocab_size"], lengths, side)
    ours = same_encoders(theirs, batch, given)
    if side == "right":
        same(ours.pooled_output(batch), theirs(**given).pooler_output)


@texts
@sizes
def test_losses_and_gradients(size: dict, lengths: list[int], side: str) -> None:
    """Both losses, but with padding on the left, where theirs takes the first column for [CLS], only that of the masked
    tokens."""
    theirs = made(AlbertForPreTraining, config(size))
    ours = convert(theirs)
    batch, given = padded_text(size["vocab_size"], lengths, side)
    order, real = torch.arange(len(lengths)) % 2, given["attention_mask"].bool()
    told = theirs(**given, labels=batch.targets, sentence_order_label=order)
    same(ours(batch)[real], told.prediction_logits[real])
    expected = F.cross_entropy(told.prediction_logits.flatten(0, 1), batch.targets.flatten())
    if side == "right":
        batch.labels["sentence_order"], expected = order, told.loss
        same(ours.sentence_order_logits(ours.encoder(batch)), told.sop_logits)
    loss = ours.loss(batch)
    same(loss, expected)
    loss.backward()
    expected.backward()
    assert side == "left" or all(weight.grad is not None for weight in ours.parameters())
    same_gradients(ours, theirs, [*within("encoder", [*ALBERTS.links(ours.config), *ALBERTS.pooler]), *ALBERTS.head,
                                  *ALBERTS.others])


def test_without_its_second_head() -> None:
    """An ``AlbertForMaskedLM`` has neither pooler nor classifier."""
    theirs = made(AlbertForMaskedLM, config(SIZES[1]))
    with pytest.warns(UserWarning, match=r"the weights contain no encoder\.pooler and no sentence_order"):
        ours = convert(theirs)
    batch, given = padded_text(40, [9, 4], "right")
    same(ours.loss(batch), theirs(**given, labels=batch.targets).loss)


@precisions
@kinds
def test_there_and_back(kind: type, precision: torch.dtype) -> None:
    there_and_back(made(kind, config(SIZES[1])), KINDS[kind], precision)


@kinds
def test_through_a_folder(kind: type, tmp_path: Path) -> None:
    saved_and_loaded(made(kind, config(SIZES[2])), *padded_text(40, [9, 9], "right"), tmp_path)


@pytest.mark.parametrize("at", range(3))
def test_one_pass_through_theirs_is_changed_alone(at: int) -> None:
    """The hook points of a shared layer have a name for each pass, in theirs as in ours."""
    theirs = made(AlbertModel, config(SIZES[1]))
    ours = convert(theirs)
    batch, given = padded_text(40, [9, 9], "right")
    change = {f"layers.{at}.attention.weights": torch.zeros_like}
    with intervene(ours, change), watch(ours) as mine:
        ours(batch)
    for _ in range(2):  # the second time too, each name has its own pass
        with intervene(theirs, change), watch(theirs) as other:
            theirs(**given)
        for name in other:
            same(mine[name], other[name])
    assert set(other) <= set(mine) and f"layers.{at}.hidden" in other


def raises_in_second_pass() -> Callable[[Tensor], Tensor]:
    """An intervention that raises an exception in the second of four passes, only the first time it gets there."""
    has_raised: list[bool] = []

    def change(tensor: Tensor) -> Tensor:
        if not has_raised:
            has_raised.append(True)
            raise ZeroDivisionError
        return tensor
    return change


@pytest.mark.parametrize("whose", ["ours", "theirs"])
@pytest.mark.parametrize("at", ["attention.scores", "hidden"])
def test_a_forward_pass_that_raises_does_not_shift_the_names_of_the_next(whose: str, at: str) -> None:
    """In the second of four passes through the shared layer; the same `watch` records the next forward pass."""
    theirs = made(AlbertModel, config(SIZES[1] | {"num_hidden_layers": 4}))
    batch, given = padded_text(40, [9, 9], "right")
    model, run = (theirs, lambda: theirs(**given)) if whose == "theirs" else (convert(theirs), lambda: model(batch))
    with watch(model) as expected:
        run()
    with intervene(model, {f"layers.1.{at}": raises_in_second_pass()}), watch(model) as seen:
        with pytest.raises(ZeroDivisionError):
            run()
        assert len(seen.calls("layers.0.hidden")) == 1 and "layers.1.hidden" not in seen
        for _ in range(2):
            run()
    assert list(seen) == list(expected)
    for name in expected:
        assert torch.equal(seen[name], expected[name]), name
    with intervene(model, {"layers.2.attention.weights": torch.zeros_like}), watch(model) as changed:
        run()
    with intervene(model, {"layers.2.attention.weights": torch.zeros_like}), watch(model) as seen:
        with intervene(model, {"layers.1.hidden": raises_in_second_pass()}), pytest.raises(ZeroDivisionError):
            run()
        run()
    for name in changed:
        assert torch.equal(seen[name], changed[name]), name


def test_a_pass_that_stops_early_does_not_shift_the_names_of_the_next() -> None:
    """Only the first of three layers is computed, as in a loop with a break."""
    model = convert(made(AlbertModel, config(SIZES[1])))
    batch, _ = padded_text(40, [9, 9], "right")
    with watch(model, "*.hidden") as seen:
        below = model.all_hidden_states(batch)
        next(below), next(below)
        expected = list(model.all_hidden_states(batch))[1:]
    for layer, hidden in enumerate(expected):
        assert torch.equal(seen[f"layers.{layer}.hidden"], hidden)


@pytest.mark.parametrize(("settings", "message"), [
    ({"num_hidden_groups": 3}, "num_hidden_groups = 3; ours only supports 1"),
    ({"inner_group_num": 2}, "inner_group_num = 2; ours only supports 1"),
    ({"embedding_size": 12}, "the embeddings are as wide as the model, 12; such an ALBERT cannot be converted"),
])
def test_what_ours_does_not_do_is_refused(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        convert(AlbertModel(config(SIZES[1], **settings)))


def test_wide_embeddings_are_refused_on_the_way_over_too() -> None:
    with pytest.raises(ValueError, match="as wide as the model, 8"):
        to_hf(ALBERT(OurConfig(30, time=9, layers=1, model=8, heads=2, inner=8, embedding=8)))
