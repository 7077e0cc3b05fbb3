"""The probe of word senses: what it learns from and what it is asked about are apart, and a known answer is found."""

from collections import Counter

import pytest
import torch

from plmlab import senses
from plmlab.chapters.ch08.senses import of_bert, of_gpt
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.world import World
from plmlab.world.datasets import occurrences
from plmlab.world.datasets.occurrences import Occurrence
from plmlab.world.datasets.tokenizer import world_tokenizer


def test_the_sentences_hold_an_ambiguous_word_in_the_sense_they_say(full: World) -> None:
    for pattern, rows in occurrences.occurrences().items():
        assert len({row.words for row in rows}) == len(rows) <= occurrences.EACH
        for row in rows:
            assert row.pattern == pattern and row.side in ("left", "right")
            assert row.sense in full.lexicon.ambiguous[row.word]


def test_what_is_asked_is_not_learned_from() -> None:
    known, asked = occurrences.other_sentences()
    assert not {row.words for row in known} & {row.words for row in asked}
    assert {row.pattern for row in known} == {row.pattern for row in asked}
    for known, asked in occurrences.other_patterns():
        assert not {row.pattern for row in known} & {row.pattern for row in asked}
        assert {row.sense for row in asked} <= {row.sense for row in known}


def test_a_probe_of_vectors_that_tell_the_sense_is_always_right_and_of_noise_guesses() -> None:
    known, asked = occurrences.other_sentences()
    places = {sense: i for i, sense in enumerate(sorted({row.sense for row in known}))}

    def telling(rows: list[Occurrence]) -> torch.Tensor:
        return 5 * torch.eye(len(places))[[places[row.sense] for row in rows]]

    def noise(rows: list[Occurrence]) -> torch.Tensor:
        return torch.randn(len(rows), 8, generator=torch.Generator().manual_seed(len(rows)))

    assert list(senses.probe(telling, known).predict(telling(asked).numpy())) == [row.sense for row in asked]
    counts = Counter(row.sense for row in known)
    even = [row for sense in counts for row in [row for row in known if row.sense == sense][: min(counts.values())]]
    hits, guess = senses.among_own_senses(senses.probe(noise, even), noise, asked)
    assert sum(hits) / len(hits) == pytest.approx(sum(guess) / len(guess), abs=0.12)


def test_the_most_frequent_sense_is_counted_word_by_word() -> None:
    known, asked = occurrences.other_sentences()
    for word, said in {row.word: said for row, said in
                       zip(asked, senses.most_frequent(known, asked), strict=True)}.items():
        counts = Counter(row.sense for row in known if row.word == word)
        assert counts[said] == max(counts.values())


def test_an_error_by_pattern_is_that_of_patterns_where_their_sentences_go_together() -> None:
    rows = [Occurrence(("a",), 0, "s", f"pattern {place // 10}", "left") for place in range(200)]
    together = [place // 10 % 2 == 0 for place in range(200)]
    alone = [place % 2 == 0 for place in range(200)]
    assert senses.error_by_pattern(together, rows) == pytest.approx((0.25 / 19) ** 0.5)
    assert senses.error_by_pattern(alone, rows) == 0
    twice, weights = [*together, *together[:5]], [*[1.0] * len(together), *[0.0] * 5]
    assert senses.error_by_pattern(twice, [*rows, *rows[:5]], weights) == pytest.approx((0.25 / 19) ** 0.5)


def test_a_bag_has_a_one_for_each_word() -> None:
    rows = [rows[0] for rows in list(occurrences.occurrences().values())[:3]]
    bags = senses.bag_of_words(rows)
    assert bags.sum(1).tolist() == [len(set(row.words)) for row in rows]


def test_the_vectors_are_those_of_the_ambiguous_words_own_position() -> None:
    torch.manual_seed(0)
    rows = [rows[0] for rows in list(occurrences.occurrences().values())[:6]]
    bert = BERT(BERTConfig(len(world_tokenizer()), time=64, layers=1, model=16, heads=2, inner=32)).eval()
    gpt = GPT2(GPTConfig(len(world_tokenizer()), time=64, layers=1, model=16, heads=2)).eval()
    for row in rows:
        other = [word if i != row.place else "boat" for i, word in enumerate(row.words)]
        swapped = row._replace(words=tuple(other))
        for vectors in (of_bert(bert), of_gpt(gpt)):
            assert vectors([row]).shape == (1, 16)
            assert not torch.allclose(vectors([row]), vectors([swapped]))
        left = row._replace(words=row.words[: row.place + 1])
        assert torch.allclose(of_gpt(gpt)([row]), of_gpt(gpt)([left]), atol=1e-6)
    for vectors in (of_bert(bert), of_gpt(gpt)):
        assert torch.allclose(vectors(rows), torch.cat([vectors([one]) for one in rows]), atol=1e-5)
