"""Recurrent language models: against one put together from PyTorch's parts; a carried state, its rows, padding."""

from random import Random

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from plmlab.decode import UncachedLM, beam_search
from plmlab.example import Batch
from plmlab.interpret import watch
from plmlab.models.recurrent import (
    GRULanguageModel,
    LSTMLanguageModel,
    RecurrentConfig,
    RecurrentLanguageModel,
    RNNLanguageModel,
)
from plmlab.objectives import causal
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)
KINDS = {RNNLanguageModel: nn.RNN, LSTMLanguageModel: nn.LSTM, GRULanguageModel: nn.GRU}
every_kind = pytest.mark.parametrize("kind", KINDS)


def made(kind: type[RecurrentLanguageModel]) -> RecurrentLanguageModel:
    torch.manual_seed(3)
    model = kind(RecurrentConfig(60, layers=2, model=12))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    return model.double().eval()


def texts(*lengths: int) -> Batch:
    return Batch.of([causal(range(7 + n, 7 + 2 * n), vocab=VOCAB, rng=Random(0)) for n in lengths], pad=0)


@every_kind
def test_it_is_torchs_recurrence_between_an_embedding_and_its_transpose(kind: type[RecurrentLanguageModel]) -> None:
    model, batch = made(kind), texts(9, 9)
    theirs = KINDS[kind](12, 12, 2, batch_first=True).double()
    theirs.load_state_dict({f"{name}_l{layer}": weight for layer, cell in enumerate(model.recurrent.cells)
                            for name, weight in cell.named_parameters()})
    logits = theirs(model.token.weight[batch.tokens])[0] @ model.token.weight.T + model.bias
    assert_close(model(batch), logits, atol=1e-10, rtol=0)
    by_hand = nn.functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten())
    assert_close(model.loss(batch), by_hand, atol=1e-10, rtol=0)
    with watch(model) as seen:
        assert_close(model(batch), logits, atol=1e-10, rtol=0)
    assert [tensor.shape for tensor in seen.hidden()] == [(2, 10, 12)] * 3


@every_kind
def test_reading_on_is_reading_the_whole(kind: type[RecurrentLanguageModel]) -> None:
    model, tokens = made(kind), torch.randint(7, 60, (3, 8))
    whole, state = model(Batch.continuing(tokens, 0)), model.start()
    assert_close(model.step(tokens[:, :3], state), whole[:, 2], atol=1e-10, rtol=0)
    state.select(torch.tensor([2, 0]))
    assert_close(model.step(tokens[[2, 0], 3:], state), whole[[2, 0], 7], atol=1e-10, rtol=0)


@every_kind
def test_padding_behind_a_text_changes_nothing(kind: type[RecurrentLanguageModel]) -> None:
    model, batch = made(kind), texts(3, 9, 6)
    together = model(batch)
    for row, length in zip(together, (3, 9, 6), strict=True):
        assert_close(row[:length + 1], model(texts(length))[0], atol=1e-10, rtol=0)


@every_kind
def test_a_beam_finds_what_rereading_the_whole_finds(kind: type[RecurrentLanguageModel]) -> None:
    """Dropping and doubling rows of the state keeps each text with its own."""
    model = made(kind)
    prompt = torch.tensor([[VOCAB.need("start"), 9, 10], [VOCAB.need("start"), 30, 8]])
    again = UncachedLM(lambda tokens: model(Batch.continuing(tokens, 0))[:, -1])
    for mine, other in zip(*(beam_search(one, prompt, VOCAB, length=6, beam=3) for one in (model, again)), strict=True):
        assert [text.tokens for text in mine] == [text.tokens for text in other]
