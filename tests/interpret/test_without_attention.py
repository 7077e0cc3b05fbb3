"""A model that reads from both ends by a state has no attention: whoever would draw it says so, in the same words."""

import pytest
from torch import nn

from plmlab.interpret.attention_maps import attention_maps
from plmlab.labs import AttentionLab, PositionLab
from plmlab.labs.bertviz.lab import head_view, model_view
from plmlab.models.elmo import ELMo, ELMoConfig
from plmlab.text.tokenizers import Tokenizer

TEXT = "the cat sat on the mat"
SAID = "a ELMo has no attention to show: it carries hidden states from word to word, forward and backward"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.words([TEXT], 64)


@pytest.fixture(scope="module")
def elmo(tokenizer: Tokenizer) -> ELMo:
    made = ELMo(ELMoConfig.tiny(len(tokenizer)))
    made.set_spelling(tokenizer)
    return made


@pytest.mark.parametrize("draw", [attention_maps, head_view, model_view])
def test_what_draws_attention_refuses(draw, elmo: nn.Module, tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError) as told:
        draw(elmo, tokenizer, TEXT)
    assert str(told.value) == SAID


def test_the_labs_say_it_beside_what_they_can_still_draw(elmo: nn.Module, tokenizer: Tokenizer) -> None:
    assert AttentionLab(elmo, tokenizer, TEXT).message == SAID
    lab = PositionLab(elmo, tokenizer, TEXT, kind="sentence")
    assert (lab.message, lab.state) == (SAID, {})
    lab.kind = "sinusoidal"
    assert repr(lab) == "<PositionLab: sinusoidal positions, 64 positions of 64 dimensions, base 10,000>"
    with pytest.raises(ValueError, match=f"no sentence has been processed yet: {SAID}"):
        lab.weights()
