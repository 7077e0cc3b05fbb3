"""Features that are remembered are those that the encoder makes, and what is known is not read again."""

from dataclasses import replace

import torch
from torch.testing import assert_close

from plmlab.example import Batch
from plmlab.features import cached_features
from plmlab.models.bert import BERT, BERTConfig
from plmlab.objectives import sequence_classification
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)


def encoder() -> BERT:
    torch.manual_seed(0)
    bert = BERT(BERTConfig(60, time=24, layers=2, model=12, heads=3, inner=20)).eval()
    for parameter in bert.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return bert


def batch(*lengths: int) -> Batch:
    """Texts by their lengths, alone and in pairs, padded to the longest."""
    return Batch.of([sequence_classification(range(40, 40 + n), 0, vocab=VOCAB, pair=range(41, 41 + n % 3))
                     for n in lengths], pad=0)


@torch.no_grad()
def test_they_are_the_encoders_own_whatever_is_padded() -> None:
    bert = encoder()
    one, other = batch(3, 9, 5), batch(5, 4, 3)
    expected = [bert(one), bert(other)]
    with cached_features(bert):
        found = [bert(one), bert(other), bert(one)]
    for vectors, true, read in zip(found, [*expected, expected[0]], [one, other, one], strict=True):
        assert vectors.shape == true.shape
        real = read.padding_mask
        assert_close(vectors[real], true[real], atol=1e-5, rtol=0)
        assert not vectors[~real].any()
    assert_close(bert(one), expected[0])


def test_what_is_known_is_not_read_again_and_a_segment_makes_another_text() -> None:
    bert, one = encoder(), batch(3, 9, 5)
    told: list[int] = []
    read = bert.forward
    bert.forward = lambda given: (told.append(len(given.tokens)), read(given))[1]  # type: ignore[method-assign]
    with cached_features(bert):
        bert(one)
        bert(batch(5, 3))
        assert told == [3]
        turned = replace(one, segments=1 - one.segments)
        assert not torch.allclose(bert(turned), bert(one), atol=1e-3)
        assert told == [3, 3]
        bert(batch(9, 7, 3, 5))
        assert told == [3, 3, 4]
        assert not bert(one).requires_grad
