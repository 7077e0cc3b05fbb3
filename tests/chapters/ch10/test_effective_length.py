"""The relative effective context length: worked by hand, and prices by brute force."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from plmlab.chapters.ch10 import arms, recall_task
from plmlab.chapters.ch10.variants import AbsoluteTransformerXL
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.visibility import AttentionMask
from plmlab.world.datasets.recalls import RecallText
from studies.ch10 import effective_length
from studies.ch10.arms import UPDATES
from studies.ch10.effective_length import effective_lengths

CONTEXTS = (16, 32, 48, 64, 80)
SMALL = TransformerXLConfig(30, segment=4, memory=6, layers=2, model=12, heads=3, inner=20, dropout=0.0)


def flat(*prices: float) -> dict[int, Tensor]:
    """A price for each context, the same for each of ten targets."""
    return {context: torch.full((10,), float(price)) for context, price in zip(CONTEXTS, prices, strict=True)}


def rows(*targets: tuple[float, ...]) -> dict[int, Tensor]:
    """The prices of each target, one for each context."""
    return dict(zip(CONTEXTS, torch.tensor(targets).float().T, strict=True))


# Lengths, by hand

def test_who_gains_up_to_48_and_none_later_has_48() -> None:
    assert effective_lengths({"it": flat(3, 2.5, 2, 2, 2)}, 1.0) == {"it": 48}
    assert effective_lengths({"it": flat(3, 2.5, 2, 1.5, 1)}, 1.0) == {"it": 80}, "even the last step gains"
    assert effective_lengths({"it": flat(3, 3, 2, 1, 0.5)}, 1.0) == {"it": 16}, "it ends where a step gains nothing"
    assert effective_lengths({"it": flat(3, 2.5, 2.6, 1, 0.5)}, 1.0) == {"it": 32}


def test_a_step_must_take_a_hundredth_off_the_perplexity() -> None:
    """exp(−0.0100) = 0.99005, which is less than a hundredth; exp(−0.0102) = 0.98985 is more."""
    assert effective_lengths({"it": flat(3, 2.9900, 2, 1, 0.5)}, 1.0) == {"it": 16}
    assert effective_lengths({"it": flat(3, 2.9898, 2.9796, 2.9796, 1)}, 1.0) == {"it": 48}


# Prices, by brute force

@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Tensor:
    """Three texts of 17 words, of which those from the twelfth on are asked."""
    monkeypatch.setattr(effective_length, "LONGEST", 12)
    return torch.randint(30, (3, 17), generator=torch.Generator().manual_seed(0))


def made(cls: type[TransformerXL] = TransformerXL, **lengths: int) -> TransformerXL:
    torch.manual_seed(3)
    model = cls(replace(SMALL, **lengths)).eval()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.4)
    return model


@torch.no_grad()
def in_one_pass(model: TransformerXL, words: Tensor) -> Tensor:
    """What words alone say of the next one: the layers over all of them at once, under a mask made by hand."""
    time, (segment, memory) = len(words), (model.config.segment, model.config.memory)
    mask = torch.tensor([[[j <= i and j >= i // segment * segment - memory for j in range(time)] for i in range(time)]])
    x = model.embeddings.token.weight[words][None] * math.sqrt(12)
    for layer in model.layers:
        x = layer(x, AttentionMask(pairs=mask))
    return (x[0, -1] @ model.embeddings.token.weight.T).softmax(0)


def alone(model: TransformerXL, rows: Tensor, context: int) -> list[float]:
    """The price of each word from the twelfth on, of all texts first the first of them."""
    return [-math.log(float(in_one_pass(model, row[end - context:end])[row[end]]))
            for end in range(12, 17) for row in rows]


@pytest.mark.parametrize("context", [1, 4, 7, 12])
@pytest.mark.parametrize("memory", [3, 6, 12])
def test_who_remembers_reads_the_last_words_alone(context: int, memory: int, short: Tensor) -> None:
    found = effective_length.prices(made(memory=memory), short, context)
    assert found.tolist() == pytest.approx(alone(made(memory=memory), short, context), abs=1e-4)


@pytest.mark.parametrize("segment", [4, 5, 8])
def test_without_a_memory_no_more_than_a_segment_is_read(segment: int, short: Tensor) -> None:
    model = made(memory=0, segment=segment)
    whole = effective_length.prices(model, short, segment)
    assert whole.tolist() == pytest.approx(alone(model, short, segment), abs=1e-4)
    for longer in (segment + 1, segment + 3, 12):
        assert torch.equal(effective_length.prices(model, short, longer), whole)
    fewer = effective_length.prices(model, short, segment - 1)
    assert fewer.tolist() == pytest.approx(alone(model, short, segment - 1), abs=1e-4)
    assert not torch.isclose(fewer, whole).any()


@pytest.mark.parametrize("cls", [TransformerXL, AbsoluteTransformerXL])
def test_what_stands_before_the_context_is_no_matter(cls: type[TransformerXL], short: Tensor) -> None:
    """The last word is asked with 6 before it: those from position 10 on."""
    model = made(cls)
    changed = short.clone()
    changed[:, :10] = (changed[:, :10] + 1) % 30
    before, after = (effective_length.prices(model, some, 6)[-3:] for some in (short, changed))
    assert torch.equal(before, after)
    changed[:, 10] = (changed[:, 10] + 1) % 30
    assert not torch.isclose(effective_length.prices(model, changed, 6)[-3:], before).any()


# Who is asked

@pytest.mark.parametrize("learned", [True, False])
def test_the_models_of_a_seed_are_asked_with_the_same_words(learned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept ones, or new ones; a memory alone is made longer. Prices that do not fall: all lengths are the shortest."""
    asked: list[tuple[str, int, int, int]] = []

    def built(name: str, seed: int) -> TransformerXL:
        assert seed == 7
        arm = arms.ARMS[name]
        torch.manual_seed(0)
        return arm.model(replace(SMALL, segment=arm.segment, memory=arm.memory))

    def trained(folder: str, name: str, updates: int, seed: int) -> TransformerXL:
        assert (folder, updates, learned) == ("there", UPDATES, True)
        return built(name, seed).eval()

    def new(name: str, seed: int) -> TransformerXL:
        assert not learned
        return built(name, seed)

    def priced(model: TransformerXL, some: Tensor, context: int) -> Tensor:
        assert some.shape == (2, 160) and not model.training
        asked.append((type(model).__name__, model.config.segment, model.config.memory, context))
        falls = context <= 64 and model.config.memory == 144
        return torch.full((32,), 3 - context / 100 if falls else 3.0)

    text = RecallText(("Ann",) * 160, ())
    for module, name, value in ((effective_length, "TEXTS", 2),
                                (effective_length, "STUDY", SimpleNamespace(trained=trained)),
                                (effective_length, "new", new), (effective_length, "prices", priced),
                                (recall_task, "texts", lambda part: (text,) * (3 if part == "test_set" else 0)),
                                (recall_task, "ids", lambda some: torch.zeros(len(some), 160, dtype=torch.long))):
        monkeypatch.setattr(module, name, value)
    told = effective_length.lengths("there", learned, 7)
    assert told == {share: {"memory": 16, "longer memory": 64, "none": 16, "window": 16, "absolute window": 16}
                    for share in ("0.1", "0.5", "1.0")}
    assert len(asked) == 5 * 9 and {asking[-1] for asking in asked} == set(range(16, 145, 16))
    assert {asking[:-1] for asking in asked} == {
        ("TransformerXL", 16, 64), ("TransformerXL", 16, 144), ("TransformerXL", 16, 0), ("TransformerXL", 80, 0),
        ("AbsoluteTransformerXL", 80, 0)}
