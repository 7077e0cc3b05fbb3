"""Copying names with and without the pointer: the task by hand, and models that copy always or never."""

from random import Random
from typing import Any

import pytest
import torch

from plmlab.chapters.ch13 import pointing
from plmlab.chapters.ch13.pointing import MARKER, NAMES, SEEN, VOCAB, WithoutPointer, copied, example
from plmlab.models.palm import PALM, PALMConfig

pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_target_is_the_name_after_the_marker() -> None:
    places = set()
    for seed in range(200):
        pair = example(Random(seed), SEEN)
        _, *words, _ = pair.source.tokens.tolist()
        place = words.index(MARKER)
        assert len(words) == 8 and pair.target.targets.tolist() == [words[place + 1], VOCAB.end]
        assert [word for word in words if word in NAMES] == [words[place + 1]] and words[place + 1] in SEEN
        places.add(place)
    assert places == set(range(7)) and len(SEEN) == 40 and len(NAMES) == 79


class Oracle(PALM):
    """Copies the token after the marker, and then ends the text."""

    def predict(self, hidden: Any, state: Any) -> Any:
        names = state.tokens[:, 1:][state.tokens[:, :-1] == MARKER]
        predicted = names if state.time <= hidden.shape[1] else torch.full_like(names, VOCAB.end)
        return torch.nn.functional.one_hot(predicted[:, None], VOCAB.size).float()


def test_untrained_networks_do_not_copy_and_an_oracle_copies_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pointing, "fit", lambda *_, **__: None)
    for build in (PALM, WithoutPointer):
        assert max(copied(build, 0).values()) < 0.1
    assert {*copied(Oracle, 0).values()} == {1.0}


def test_without_the_pointer_nothing_is_copied() -> None:
    """The logits are those of the vocabulary; with the gate closed, the two networks predict the same."""
    torch.manual_seed(0)
    config = PALMConfig.tiny(VOCAB.size, time=16)
    full, without = PALM(config).eval(), WithoutPointer(config).eval()
    without.load_state_dict(full.state_dict())
    batch = pointing.batches(NAMES, 4, 0)(0)
    assert not torch.allclose(full(batch), without(batch).log_softmax(-1), atol=1e-3)
    torch.nn.init.zeros_(full.pointer.gate.weight)
    torch.nn.init.constant_(full.pointer.gate.bias, 50.0)
    torch.testing.assert_close(full(batch), without(batch).log_softmax(-1))
