"""The tagger: padding changes nothing, a fixed mix is that mix, and what is asked is what is learned."""

import pytest
import torch

from plmlab.chapters.ch05.tagger import FixedMix, QuickMix, TaggedBatch, Tagger, encode_row, word_vectors
from plmlab.example import IGNORE
from plmlab.layers.scalar_mix import ScalarMix
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

TEXTS = (["the", "teacher", "sat", "."], ["the", "bank", "closed", "at", "noon", "."])


def batch(width: int = 4) -> TaggedBatch:
    rng = torch.Generator().manual_seed(0)
    return TaggedBatch.of([encode_row(words, [0, *[1] * (len(words) - 2), IGNORE],
                               [torch.randn(len(words), width, generator=rng) for _ in range(3)]) for words in TEXTS])


def test_a_batch_is_padded_and_knows_what_is_real() -> None:
    made = batch()
    assert made.words.shape == (2, 6) and made.real.sum(1).tolist() == [4, 6]
    assert made.targets[0].tolist() == [0, 1, 1, IGNORE, IGNORE, IGNORE]
    assert made.words[1].tolist() == ids(TEXTS[1]) and all(layer.shape == (2, 6, 4) for layer in made.layers)


@torch.no_grad()
def test_a_text_is_tagged_alike_alone_and_beside_a_longer_one() -> None:
    torch.manual_seed(0)
    tagger, made = Tagger(5).eval(), batch()
    alone = tagger(TaggedBatch.of([encode_row(TEXTS[0], [0] * 4)]))
    torch.testing.assert_close(tagger(made)[0, :4], alone[0], rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_a_fixed_mix_is_the_learned_one_with_those_shares() -> None:
    made, shares = batch(), [0.2, 0.5, 0.3]
    for learned, pace in ((ScalarMix(3, normed=True), 1), (QuickMix(3), 10)):
        learned.weights.copy_(torch.tensor(shares).log() / pace)
        torch.testing.assert_close(FixedMix(shares)(made.layers, made.real), learned(made.layers, made.real))
    only = FixedMix([0.0, 1.0, 0.0])(made.layers, made.real)[made.real]
    assert only.mean().abs() < 1e-5 and only.var(correction=0).item() == pytest.approx(1, abs=1e-4)


def test_the_mix_and_the_word_vectors_are_learned_and_unlabelled_words_are_not_asked() -> None:
    torch.manual_seed(0)
    tagger, made = Tagger(5, QuickMix(3), 4), batch()
    loss = tagger.eval().loss(made)
    logits = tagger(made).log_softmax(-1)
    asked = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4)]
    torch.testing.assert_close(loss, -torch.stack([logits[i, t, made.targets[i, t]] for i, t in asked]).mean())
    loss.backward()
    assert tagger.mix.weights.grad.any() and tagger.mix.gamma.grad and tagger.table.weight.grad.any()


def test_the_word_vectors_are_those_of_chapter_02_by_word() -> None:
    table = word_vectors()
    assert table.shape == (len(world_tokenizer()), 50) and not table[world_tokenizer().vocab.need("unk")].any()
    from plmlab.checkpoints import load
    model, tokenizer = load("skipgram-world")
    theirs = model.token.weight[tokenizer.encode("bank", plain=True)[0]].detach()
    ours = table[ids(["bank"])[0]]
    assert torch.cosine_similarity(ours, theirs, dim=0).item() == pytest.approx(1, abs=1e-5)
