"""Examples with candidate mentions: where they are in one text and in two, what is hidden, how they are collated."""

from random import Random

import pytest
import torch

from plmlab.batches import collate
from plmlab.candidates import MASK, NULL, CandidateMention, LinkedBatch, LinkedExample
from plmlab.example import IGNORE
from plmlab.objectives import masked
from plmlab.objectives.entity_linking import drop_mention, linked, with_mentions
from plmlab.text.knowledge import KnowledgeBase
from plmlab.text.words import word_tokenizer

WORDS = word_tokenizer(["prince", "sang", "purple", "rain", "in", "the", "red"])
VOCAB = WORDS.vocab
SONGS = KnowledgeBase(["song", "singer"], {"purple rain": {"song": 1}, "prince": {"singer": 1}}, WORDS)
SENSES = KnowledgeBase(["sing.verb"], {"sang": {"sing.verb": 1}}, WORDS)
SONG, SINGER, SING = 2, 3, 2


def ids(text: str) -> tuple[int, ...]:
    return tuple(WORDS.encode(text, plain=True))


def example(text: str, select: tuple[int, ...] = (), **choices: object) -> LinkedExample:
    return with_mentions(masked, SONGS, SENSES, **choices)(ids(text), vocab=VOCAB, rng=Random(0), select=select)


def test_the_mentions_of_each_knowledge_base() -> None:
    """Spans count from [CLS]."""
    made = example("prince sang purple rain")
    names = CandidateMention(1, 2, (SINGER, NULL), (1.0, 0.0)), CandidateMention(3, 5, (SONG, NULL), (1.0, 0.0))
    assert made.mentions == (names, (CandidateMention(2, 3, (SING, NULL), (1.0, 0.0)),))
    plain = masked(ids("prince sang purple rain"), vocab=VOCAB, rng=Random(0), select=())
    assert torch.equal(made.tokens, plain.tokens) and made.visible is not None and made.labels == {}


def test_the_mentions_of_a_second_text() -> None:
    made = with_mentions(masked, SONGS)(ids("in red"), pair=ids("the prince"), vocab=VOCAB, rng=Random(0), select=())
    assert [mention[:2] for mention in made.mentions[0]] == [(5, 6)]
    assert WORDS.tokens(made.tokens.tolist()) == ["[CLS]", "in", "red", "[SEP]", "the", "prince", "[SEP]"]


@pytest.mark.parametrize(("select", "hidden"), [((3,), [1]), ((4,), [1]), ((1, 4), [0, 1]), ((2,), []), ((5,), [])])
def test_a_mention_with_a_token_to_predict_is_hidden(select: tuple[int, ...], hidden: list[int]) -> None:
    """Even where the token stays in the input (10 % of the tokens to predict); 5 is behind the name."""
    for corrupt in (lambda *_: VOCAB.need("mask"), lambda token, *_: token):
        made = with_mentions(masked, SONGS)(ids("prince sang purple rain in"), vocab=VOCAB, rng=Random(0),
                                            select=select, corrupt=corrupt)
        for i, mention in enumerate(made.mentions[0]):
            assert (mention.entities == (MASK,) and mention.priors == (1.0,)) == (i in hidden)
    gold = CandidateMention(3, 5, (SONG, NULL), (1.0, 0.0), SONG)
    assert linked(made, [[gold]]).mentions[0][0].gold == (IGNORE if 1 in hidden else SONG)
    dropped = example("prince sang purple rain in", select, hide=drop_mention)
    assert [mention.start for mention in dropped.mentions[0]] == [s for i, s in enumerate((1, 3)) if i not in hidden]


def test_a_batch_is_padded_with_mentions_and_candidates_that_are_none() -> None:
    made = collate([example("prince sang purple rain"), example("in the red"), example("the prince")], 0)
    assert type(made) is LinkedBatch and made.tokens.shape == (3, 6)
    songs, senses = made.mentions
    assert songs.spans.tolist() == [[[1, 2], [3, 5]], [[0, 0], [0, 0]], [[2, 3], [0, 0]]]
    assert songs.entities.tolist() == [[[3, 0], [2, 0]], [[0, 0], [0, 0]], [[3, 0], [0, 0]]]
    assert songs.mask.tolist() == [[True, True], [False, False], [True, False]]
    assert songs.candidate_mask[0].all() and songs.priors[0].tolist() == [[1, 0], [1, 0]]
    assert senses.spans.shape == (3, 1, 2) and (songs.gold == IGNORE).all()
    assert songs.in_span(6)[0].tolist() == [[False, True, *[False] * 4], [*[False] * 3, True, True, False]]
    assert not songs.in_span(6)[1].any()


def test_knowledge_bases_that_differ_within_a_batch_are_refused() -> None:
    other = with_mentions(masked, SONGS)(ids("prince"), vocab=VOCAB, rng=Random(0), select=())
    with pytest.raises(ValueError, match="from 1 and 2 knowledge bases"):
        LinkedBatch.of([example("prince"), other], pad=0)
