"""Pairs of the world as pretraining batches: true to the source, the same for a step, learnable."""

import pytest
import torch
from torch.nn import functional as F

from plmlab.example import IGNORE
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.objectives import masked
from plmlab.objectives.next_sentence import without_nsp
from plmlab.world.datasets.batches import mixed_batches, pair_batches, sentence_batches
from plmlab.world.datasets.tokenizer import build_world_tokenizer


@pytest.fixture(scope="module")
def tokenizer(small):
    return build_world_tokenizer(small, ["english"])


def test_labels_are_true_to_the_articles(small, tokenizer):
    """What is said to follow stands behind the first sentence in an article."""
    follows = {(a.words, b.words) for article in small.articles("train")
               for a, b in zip(article.sentences, article.sentences[1:], strict=False)}
    said = []
    for step in range(3):
        batch = pair_batches(small, "train", tokenizer, 64, 5)(step)
        truth = torch.where(batch.targets != IGNORE, batch.targets, batch.tokens)
        for row, segments, label in zip(truth, batch.segments, batch.labels["next_sentence"].tolist(), strict=True):
            row = row[row != 0]
            cut = int((row == 3).nonzero()[0])
            assert row[0] == 2 and row[-1] == 3 and int(segments.sum()) == len(row) - cut - 1
            sides = tuple(tuple(tokenizer.tokens(part.tolist())) for part in (row[1:cut], row[cut + 1:-1]))
            said.append(label)
            if label == 0:
                assert sides in follows
    assert 0.35 < sum(said) / len(said) < 0.65


def test_a_step_is_the_same_whenever_it_is_asked_for(small, tokenizer):
    batches = pair_batches(small, "train", tokenizer, 8, 5)
    first, again, other = batches(3), batches(3), batches(4)
    assert torch.equal(first.tokens, again.tokens) and torch.equal(first.targets, again.targets)
    assert first.tokens.shape != other.tokens.shape or not torch.equal(first.tokens, other.tokens)
    elsewhere = pair_batches(small, "train", tokenizer, 8, 6)(3)
    assert first.tokens.shape != elsewhere.tokens.shape or not torch.equal(first.tokens, elsewhere.tokens)


def test_the_share_of_hidden_positions_is_the_one_asked_for(small, tokenizer):
    for rate in (0.15, 0.4):
        batch = pair_batches(small, "train", tokenizer, 200, 5, rate=rate)(0)
        asked = (batch.targets != IGNORE).sum() / (batch.tokens != 0).sum()
        assert abs(asked - rate) < 0.02


def test_both_losses_are_counted(small, tokenizer):
    torch.manual_seed(0)
    model = BERTPretraining(BERTConfig.tiny(len(tokenizer))).eval()
    batch = pair_batches(small, "train", tokenizer, 16, 5)(0)
    words = F.cross_entropy(model(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)
    follows = F.cross_entropy(model.next_sentence_logits(model.encoder(batch)), batch.labels["next_sentence"])
    torch.testing.assert_close(model.loss(batch), words + follows)


def test_a_mixed_batch_holds_pairs_and_sentences_of_which_no_next_one_is_asked(small, tokenizer):
    pairs = pair_batches(small, "train", tokenizer, 6, 5)
    batch = mixed_batches(pairs, sentence_batches(small, "train", tokenizer, masked, 10, 5))(4)
    labels, alone = batch.labels["next_sentence"], batch.segments.sum(1) == 0
    assert batch.size[0] == 16 and alone.tolist() == [False] * 6 + [True] * 10
    assert torch.equal(labels[:6], pairs(4).labels["next_sentence"]) and (labels[6:] == IGNORE).all()
    truth = torch.where(batch.targets != IGNORE, batch.targets, batch.tokens)
    for row in truth[6:]:
        words = tokenizer.tokens(row[row != 0].tolist())[1:-1]
        assert small.logprob(words) > -100
    model = BERTPretraining(BERTConfig.tiny(len(tokenizer)))
    follows = F.cross_entropy(model.next_sentence_logits(model.encoder(batch))[:6], labels[:6])
    asked = batch.targets != IGNORE
    words = F.cross_entropy(model(batch)[asked], batch.targets[asked])
    assert torch.allclose(model.loss(batch), follows + words, atol=1e-5)


def test_pairs_of_an_objective_that_asks_nothing_of_them_have_no_label(small, tokenizer):
    pairs = pair_batches(small, "train", tokenizer, 6, 5, objective=without_nsp(masked), rate=0.5)
    batch = mixed_batches(pairs, sentence_batches(small, "train", tokenizer, masked, 10, 5))(4)
    assert batch.size[0] == 16 and not batch.labels
    asked = pairs(4).targets != IGNORE
    assert 0.35 < float(asked.sum() / (pairs(4).tokens != 0).sum()) < 0.55
