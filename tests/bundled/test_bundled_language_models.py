"""The bundled language models reach the losses that their READMEs state, in the world's own words."""

from collections.abc import Callable

import pytest
import torch
from readmes import stated

from plmlab import world
from plmlab.checkpoints import load
from plmlab.objectives import (
    bidirectional_lm,
    blank_infilling,
    causal,
    mask_mixture,
    masked,
    masked_and_permuted,
    permuted_targets,
)
from plmlab.pretraining.material import WORLD_HELD_OUT
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import bilingual_tokenizer, build_world_tokenizer

CASES = {"albert-world": (masked, 32), "bert-world": (masked, 32), "elmo-world": (bidirectional_lm, 64),
         "glm-world": (blank_infilling, 32), "gpt2-world": (causal, 64), "lstm-world": (causal, 64),
         "mpnet-world": (masked_and_permuted, 32), "unilm-world": (mask_mixture, 32),
         "xlnet-world": (permuted_targets, 32)}
WORST = {"albert-world": 4}
"""The largest multiple of the floor that a loss may be, if not 2: ALBERT has fewer parameters."""
BILINGUAL = ("unilm-world",)
"""Those that have read Chinese too."""


def loss(name: str, batch: int, sentences: int) -> float:
    """The loss on so many held-out sentences, in nats per target."""
    model, tokenizer = load(name)
    held_out = sentence_batches(world.full(), "test", tokenizer, CASES[name][0], batch, seed=1)
    nats, count = 0.0, 0
    with torch.no_grad():
        for i in range(-(-sentences // batch)):
            targets = int(((rows := held_out(i)).targets >= 0).sum())
            nats, count = nats + float(model.loss(rows)) * targets, count + targets
    return nats / count


@pytest.mark.bundled
@pytest.mark.parametrize("name", CASES)
def test_a_checkpoint_reaches_the_loss_that_its_readme_tells(name: str) -> None:
    reached = loss(name, CASES[name][1], WORLD_HELD_OUT)
    assert reached == pytest.approx(stated(name, "held-out loss"), rel=2e-3)
    assert (floor := stated(name, "floor")) < reached < WORST.get(name, 2) * floor


@pytest.mark.parametrize("name", CASES)
def test_ten_sentences_have_their_loss(name: str, same_ten: Callable[[str, float], None]) -> None:
    same_ten(name, loss(name, 10, 10))


@pytest.mark.parametrize("name", CASES)
def test_its_tokens_are_the_words_of_the_full_world(name: str) -> None:
    _, tokenizer = load(name)
    words = bilingual_tokenizer() if name in BILINGUAL else build_world_tokenizer(world.full(), ["english"])
    assert tokenizer.fingerprint == words.fingerprint
