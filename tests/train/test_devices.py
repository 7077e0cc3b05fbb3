"""Where a model is trained and where it is found afterwards, on a fake GPU."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from fake_gpu import fake_gpu
from torch import nn
from training_toy import Toy, ToyBatch, ToyConfig, batch

from plmlab.example import Batch
from plmlab.features import cached_features
from plmlab.train import Diverged, fit
from plmlab.train.state import StateError


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
    with fake_gpu():
        model = Seen().to(home)
        before = [id(weight) for weight in model.parameters()]
        asked: set[str] = set()

        def score(it: Seen) -> float:
            asked.update(str(weight.device) for weight in it.parameters())
            return 1.0

        def judged() -> Iterator[ToyBatch]:
            yield batch(int(score(model)))
        history = fit(model, batch, steps=3, lr=0.1, evaluate=judged, score=score,
                      evaluate_every=1, show=False)
        assert asked == {home} and len(history.scores) == len(history.validation) == 3
        assert history.device == "cuda" and model.seen == {"cuda:0"}
        assert {str(tensor.device) for tensor in model.state_dict().values()} == {home}
        assert [id(weight) for weight in model.parameters()] == before and model.head.weight is model.token.weight


def test_so_it_is_after_a_divergence_and_an_error() -> None:
    with fake_gpu():
        for worth, error in ((math.nan, Diverged), ("wrong", TypeError)):
            model = Seen()
            model.worth = worth
            with pytest.raises(error):
                fit(model, batch, steps=12, lr=0.1, show=False)
            assert model.seen == {"cuda:0"} and {str(weight.device) for weight in model.parameters()} == {"cpu"}


def test_so_it_is_where_a_run_can_t_begin(tmp_path: Path) -> None:
    with fake_gpu():
        fit(Seen(), batch, steps=2, lr=0.1, save_to=tmp_path, show=False)
        model = Seen()
        with pytest.raises(StateError):
            fit(model, batch, steps=2, lr=0.1, save_to=tmp_path, show=False)
        assert {str(weight.device) for weight in model.parameters()} == {"cpu"}


def test_the_curve_is_that_of_a_cpu() -> None:
    torch.manual_seed(0)
    here = fit(Seen(), batch, steps=5, lr=0.1, precision="float32", show=False).losses
    with fake_gpu():
        torch.manual_seed(0)
        there = fit(Seen(), batch, steps=5, lr=0.1, precision="float32", show=False).losses
    assert there == pytest.approx(here, rel=1e-5)


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(9, 4)

    def forward(self, given: Batch) -> torch.Tensor:
        return self.token(given.tokens)


def test_what_was_remembered_in_one_place_is_given_in_the_other() -> None:
    reader, read, other = Reader(), Batch.causal(torch.arange(6)[None]), Batch.causal(torch.arange(1, 7)[None])
    both = Batch.causal(torch.stack([torch.arange(6), torch.arange(1, 7)]))
    with fake_gpu(), cached_features(reader):
        here = reader(read)
        there = reader.to("cuda")(read.to("cuda"))
        assert (str(here.device), str(there.device)) == ("cpu", "cuda:0")
        assert torch.equal(here, there.cpu())
        reader(other.to("cuda"))
        assert torch.equal(reader.cpu()(both)[0], here[0])
