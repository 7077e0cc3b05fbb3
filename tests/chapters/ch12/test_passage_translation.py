"""Translating the small world's passages: what is asked of a target, and what is written."""

from itertools import islice
from random import Random

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch12 import mask_mixture
from plmlab.chapters.ch12 import passage_translation as small
from plmlab.example import IGNORE, Batch
from plmlab.world.datasets.passages import passages
from studies.ch12 import fine_tuned_translation

VOCAB = small.tokenizer().vocab
SOURCE, TARGET = [40, 41, 42], [50, 51, 52, 53]


def test_next_words_are_asked_at_the_position_before() -> None:
    example = small.next_words(SOURCE, TARGET, vocab=VOCAB, rng=Random(0))
    asked = {position: token for position, token in enumerate(example.targets.tolist()) if token != IGNORE}
    assert asked == {4: 50, 5: 51, 6: 52, 7: 53, 8: VOCAB.sep}
    assert example.tokens.tolist() == [VOCAB.cls, *SOURCE, VOCAB.sep, *TARGET, VOCAB.sep]
    looks = example.visible.dense()
    assert all(not looks[position, position + 1] for position in asked), "no position sees what it must say"


@torch.no_grad()
def test_masks_behind_say_what_a_mask_at_the_end_says() -> None:
    """Each of them as if the text ended there; and no word's vector knows of them."""
    model = mask_mixture.new_unilm(1).eval()
    example = small.appended_masks(SOURCE, TARGET, vocab=VOCAB, rng=Random(0))
    text = len(SOURCE) + len(TARGET) + 3
    assert example.targets.tolist() == [IGNORE] * text + [*TARGET, VOCAB.sep]
    assert example.position_ids[0].tolist() == [*range(text), *range(len(SOURCE) + 2, text)]
    logits = model(Batch.of([example], pad=0))[0]
    for said in range(len(TARGET) + 1):
        cut = small.next_words(SOURCE, [*TARGET[:said], VOCAB.mask], vocab=VOCAB, rng=Random(0))
        alone = model(Batch.of([cut], pad=0))[0, len(SOURCE) + 2 + said]
        assert torch.allclose(logits[text + said], alone, atol=1e-5)
    plain = small.next_words(SOURCE, TARGET, vocab=VOCAB, rng=Random(0))
    assert torch.allclose(logits[:text], model(Batch.of([plain], pad=0))[0], atol=1e-5)


@pytest.mark.parametrize(("share", "count"), [(0.15, 1), (0.7, 4), (0.01, 1)])
def test_a_share_of_next_words(share: float, count: int) -> None:
    whole = small.next_words(SOURCE, TARGET, vocab=VOCAB, rng=Random(0)).targets
    places = set()
    for seed in range(40):
        some = small.next_words(SOURCE, TARGET, vocab=VOCAB, rng=Random(seed), share=share).targets
        asked = some != IGNORE
        assert int(asked.sum()) == count and torch.equal(some[asked], whole[asked])
        places |= set(asked.nonzero().flatten().tolist())
    assert places == {4, 5, 6, 7, 8}


def test_every_word_of_the_passages_has_an_id_and_fits() -> None:
    for one in islice(passages(world.small(), "train", Random(1), small.WORDS), 300):
        assert len(one.english) + len(one.chinese) + 3 <= mask_mixture.TIME and len(one.chinese) < small.LONGEST
        assert all(word in small.ids() for word in (*one.english, *one.chinese))
        encoded = small.tokenizer().encode(" ".join(one.english), plain=True)
        assert encoded == [small.ids()[word] for word in one.english]


@torch.no_grad()
def test_both_ways_write_the_likeliest_word_each_time() -> None:
    model, some = mask_mixture.new_unilm(3).eval(), [row[0] for row in small.rows("train", Random(2), 3)]
    for write, position_of in ((small.in_place, 0), (small.at_the_last, -1)):
        for source, text in zip(some, write(model, some), strict=True):
            said: list[int] = []
            for _ in range(3):
                behind = [*said, VOCAB.mask] if write is small.in_place else said
                position = len(source) + 2 + len(said) + position_of
                example = small.next_words(source, behind, vocab=VOCAB, rng=Random(0))
                logits = model(Batch.of([example], pad=0))[0, position].clone()
                if write is small.in_place:
                    special = [token for token in VOCAB.special if token != VOCAB.sep]
                    logits[special] = -torch.inf
                (best, second), (word, _) = (top.tolist() for top in logits.topk(2))
                assert best - second > 1e-4, "no rounding makes another word the likeliest"
                if word == VOCAB.sep:
                    break
                said.append(word)
            assert list(text[:len(said)]) == said


def test_what_is_right_is_right_to_the_last_word() -> None:
    some = small.rows("test", Random("exam"), small.TEST_SIZE)
    known = {tuple(source): tuple(target) for source, target in some}

    def half(_: object, sources: object) -> list[tuple[int, ...]]:
        found = [known[tuple(source)] for source in sources]  # type: ignore[attr-defined]
        return [text if place % 2 else text[:-1] for place, text in enumerate(found)]
    assert small.translation_accuracy(mask_mixture.new_unilm(0), "test", half) == pytest.approx(0.5)


def test_a_table_of_sentences_is_right_where_it_has_all_of_a_passage() -> None:
    few, many = (fine_tuned_translation.looked_up(updates, 0) for updates in (1, 100))
    assert 0 < few < many < 1
    english, chinese = small.rows("train", Random(3), 1)[0]
    assert sum(map(len, fine_tuned_translation.sentences(english))) == len(english)
    assert len(fine_tuned_translation.sentences(english)) == len(fine_tuned_translation.sentences(chinese)) > 1
