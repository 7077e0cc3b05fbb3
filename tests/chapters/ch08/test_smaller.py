"""What recipe 08 measures with: the same texts in three ways, and words that are in sight."""

import pytest
import torch

from plmlab.chapters.ch08 import recipe
from plmlab.example import IGNORE, Batch
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.objectives import masked
from plmlab.transfer import spelling
from plmlab.world import World
from plmlab.world.datasets.batches import mixed_batches, pair_batches, sentence_batches


@pytest.fixture(scope="module")
def batch(full: World) -> Batch:
    return mixed_batches(pair_batches(full, "train", spelling(), 100, 0),
                        sentence_batches(full, "train", spelling(), masked, 100, 0))(0)


def test_always_masked_hides_just_what_is_asked(batch: Batch) -> None:
    altered, mask = recipe.always_masked(batch), spelling().vocab.need("mask")
    asked = batch.targets != IGNORE
    assert (altered.tokens[asked] == mask).all() and torch.equal(altered.tokens[~asked], batch.tokens[~asked])
    shown = batch.tokens[asked]
    assert 0.7 < (shown == mask).float().mean() < 0.9
    assert torch.equal(altered.targets, batch.targets) and altered.labels == batch.labels


def test_unasked_drops_the_question_and_nothing_else(batch: Batch) -> None:
    torch.manual_seed(0)
    model = BERTPretraining(BERTConfig(len(spelling()), time=64, layers=1, model=16, heads=2, inner=32)).eval()
    altered = recipe.unasked(batch)
    assert torch.equal(altered.tokens, batch.tokens) and altered.labels == {}
    both, words = model.loss(batch), model.loss(altered)
    logits = model.next_sentence_logits(model.bert(batch))
    follows = torch.nn.functional.cross_entropy(logits, batch.labels["next_sentence"])
    assert torch.allclose(both, words + follows, atol=1e-5)


class Repeating(BERTPretraining):
    """Names what it sees, in two of three slots."""

    def forward(self, batch: Batch) -> torch.Tensor:
        said = batch.tokens.clone()
        said[:, ::3] = 1
        return torch.nn.functional.one_hot(said, len(spelling())).float()


def test_words_in_sight_are_counted() -> None:
    whole = recipe.whole_sentences()
    asked = whole.targets != IGNORE
    assert torch.equal(whole.tokens[asked], whole.targets[asked]) and (whole.tokens[asked] > 38).all()
    assert whole.size[0] == 500 and int(asked.sum()) == int((whole.tokens > 38).sum())
    model = Repeating(BERTConfig(len(spelling()), layers=1, model=8, heads=1))
    slots = torch.arange(whole.size[1]).expand(whole.size)[asked]
    assert recipe.in_sight(model) == pytest.approx(float((slots % 3 != 0).float().mean()))


def test_from_scratch_starts_as_large_as_the_checkpoint_with_other_weights_a_seed() -> None:
    one, same, other = (recipe.start("from scratch", seed) for seed in (0, 0, 1))
    tuned = recipe.start("fine-tuned", 0)
    assert one.config == tuned.config
    assert torch.equal(one.pooler.weight, same.pooler.weight)
    assert not torch.equal(one.pooler.weight, other.pooler.weight)
    assert not torch.equal(one.pooler.weight, tuned.pooler.weight)
