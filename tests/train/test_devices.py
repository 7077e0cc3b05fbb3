"""Where a model is trained and where it is found afterwards, as if a GPU were there."""

import math

import pytest
import torch
from pretended_gpu import pretended_gpu
from torch import nn
from training_toy import Toy, ToyConfig, batch

from plmlab.example import Batch
from plmlab.features import remembered
from plmlab.train import Diverged, fit


class Seen(Toy):
    """Notes where it is trained."""

    def __init__(self) -> None:
        super().__init__(ToyConfig())
        self.seen: set[str] = set()
        self.worth = 1.0

    def loss(self, given):
        self.seen |= {str(given.targets.device), *(str(weight.device) for weight in self.parameters())}
        return super().loss(given) * self.worth


@pytest.mark.parametrize("home", ["cpu", "cuda:0"])
def test_a_model_is_trained_on_the_gpu_and_found_where_it_was(home: str) -> None:
    with pretended_gpu():
        model = Seen().to(home)
        before = [id(weight) for weight in model.parameters()]
        asked: set[str] = set()

        def score(it: Seen) -> float:
            asked.update(str(weight.device) for weight in it.parameters())
            return 1.0
        history = fit(model, batch, steps=3, lr=0.1, evaluate=lambda: [batch(int(score(model)))], score=score,
                      evaluate_every=1, show=False)
        assert asked == {home} and len(history.scores) == len(history.validation) == 3
        assert history.device == "cuda" and model.seen == {"cuda:0"}
        assert {str(tensor.device) for tensor in model.state_dict().values()} == {home}
        assert [id(weight) for weight in model.parameters()] == before and model.head.weight is model.token.weight


def test_so_it_is_after_a_divergence_and_an_error() -> None:
    with pretended_gpu():
        for worth, error in ((math.nan, Diverged), ("wrong", TypeError)):
            model = Seen()
            model.worth = worth
            with pytest.raises(error):
                fit(model, batch, steps=12, lr=0.1, show=False)
            assert model.seen == {"cuda:0"} and {str(weight.device) for weight in model.parameters()} == {"cpu"}


def test_the_curve_is_that_of_a_cpu() -> None:
    torch.manual_seed(0)
    here = fit(Seen(), batch, steps=5, lr=0.1, show=False).losses
    with pretended_gpu():
        torch.manual_seed(0)
        there = fit(Seen(), batch, steps=5, lr=0.1, precision="float32", show=False).losses
    assert here == there


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(9, 4)

    def forward(self, given: Batch) -> torch.Tensor:
        return self.token(given.tokens)


def test_what_was_remembered_in_one_place_is_given_in_the_other() -> None:
    reader, read = Reader(), Batch.causal(torch.arange(6)[None])
    with pretended_gpu(), remembered(reader):
        here = reader(read)
        there = reader.to("cuda")(read.to("cuda"))
        assert (str(here.device), str(there.device)) == ("cpu", "cuda:0")
        assert torch.equal(here, there.cpu())
