"""The logit lens: against the hidden states, the norm and the output layer of ``transformers``."""

import pytest
import torch
from next_token_models import SMALL, TEXT, WORDS, logits_of, seeded
from torch import nn

from plmlab.hf import to_hf
from plmlab.labs import NextTokenLab
from plmlab.models.gpt import GPT, GPT2


@pytest.fixture(scope="module")
def model() -> GPT:
    return seeded(GPT2)


@pytest.fixture
def lab(model: GPT) -> NextTokenLab:
    return NextTokenLab(model, WORDS, TEXT, world=SMALL)

def cells(lab: NextTokenLab) -> list[list[tuple[str, float, int, float]]]:
    """The lens: layer by layer, position by position."""
    rows = [[(c["likeliest"][0][0], c["likeliest"][0][1], c["rank"], c["p"]) for c in column]
            for column in lab.state["lens"]["columns"]]
    return list(map(list, zip(*rows, strict=True)))


def lens_by_hand(layers: list[torch.Tensor], head: nn.Module, norm: nn.Module) -> list[list[tuple]]:
    final = head(layers[-1]).argmax(-1)
    found = []
    for place, hidden in enumerate(layers):
        said = head(hidden if place == len(layers) - 1 else norm(hidden)).softmax(-1)
        found.append([(WORDS.tokens([int(row.argmax())])[0], row.max().item(),
                       int((row.argsort(descending=True) == end).nonzero()) + 1, row[end].item())
                      for row, end in zip(said, final, strict=True)])
    return found


@pytest.mark.parametrize("cls", [GPT, GPT2])
@pytest.mark.parametrize("theirs", [False, True], ids=["ours", "transformers"])
def test_the_lens_is_that_of_transformers_own_hidden_states(cls: type[GPT], theirs: bool) -> None:
    """Their hidden states, their final norm, their output layer; the last state of GPT-2's comes normed already."""
    ours = seeded(cls)
    counterpart = to_hf(ours).eval()
    lab = NextTokenLab(counterpart if theirs else ours, WORDS, TEXT)
    with torch.no_grad():
        states = counterpart(torch.tensor([[5, *WORDS.encode(TEXT)]]), output_hidden_states=True).hidden_states
        norm = counterpart.transformer.ln_f if cls is GPT2 else nn.Identity()
        wanted = lens_by_hand([state[0] for state in states], counterpart.lm_head, norm)
    assert lab.state["lens"]["layers"] == ["embedding", "layer 0", "layer 1", "layer 2"]
    seen = cells(lab)
    assert len({row[-1][0] for row in seen}) > 1, "the layers must disagree for this to test anything"
    for row, expected in zip(seen, wanted, strict=True):
        for cell, other in zip(row, expected, strict=True):
            assert (cell[0], cell[2]) == (other[0], other[2])
            assert cell[1::2] == pytest.approx(other[1::2], abs=2e-5)


def test_the_last_layer_of_the_lens_is_the_models_output(lab: NextTokenLab, model: GPT) -> None:
    wanted = logits_of(model, [5, *WORDS.encode(TEXT)]).softmax(-1)
    last = cells(lab)[-1]
    assert [token for token, *_ in last] == WORDS.tokens(wanted.argmax(-1).tolist())
    assert [p for _, p, *_ in last] == pytest.approx(wanted.max(-1).values.tolist(), abs=2e-6)
    assert {rank for _, _, rank, _ in last} == {1}
    assert last[-1][0] == lab.state["rows"][0]["token"]
    assert lab.state["lens"]["tokens"] == ["[START]", *TEXT.split()]
    assert lab.state["lens"]["next"] == [*TEXT.split(), None]


def test_columns_that_were_kept_are_those_of_reading_at_once(model: GPT) -> None:
    typed = NextTokenLab(model, WORDS, "")
    for end in range(1, len(TEXT) + 1):
        typed.text = TEXT[:end]
    for row, other in zip(cells(typed), cells(NextTokenLab(model, WORDS, TEXT)), strict=True):
        for cell, same in zip(row, other, strict=True):
            assert cell[0] == same[0] and cell[1:] == pytest.approx(same[1:], abs=2e-6)
