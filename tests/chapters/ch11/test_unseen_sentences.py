"""Masked words in unseen sentences: none occurs in the training text; the exact posterior of the full world."""

from itertools import islice
from math import log

import pytest

from plmlab import world
from plmlab.chapters.ch11 import masked_words
from plmlab.chapters.ch11.masked_words import KINDS, examples
from plmlab.recipes import Parts
from plmlab.world.grammar.splits import is_test
from studies.ch11 import unseen_sentences
from studies.ch11.unseen_sentences import FULL


@pytest.mark.parametrize("kind", KINDS)
def test_the_sentences_are_unseen_and_all_names_are_seen(kind: str) -> None:
    full, test_set = world.full(), examples(kind, FULL)
    assert len({example.words for example in test_set}) == len(test_set) == masked_words.COUNT
    assert masked_words.fraction_in_training(kind, FULL) == 0
    for example in test_set:
        sentence = full.parse(example.words)
        assert is_test(example.words) and sentence.pattern in full.open_patterns and not sentence.facts
        assert not {mention.entity for mention in sentence.mentions} & full.held.entities


def test_the_other_test_sentences_are_mostly_in_the_training_text() -> None:
    full = world.full()
    asked = {sentence.words for sentence in unseen_sentences.held_out_sentences(full)}
    closed = {sentence.words for sentence in masked_words.distinct_sentences(full)} - asked
    told = {tuple(words) for words in islice(full.text("train", seed=3), 20_000)}
    assert not asked & told and len(closed & told) > len(closed) / 2


def test_the_exact_posterior_of_the_full_world_by_hand() -> None:
    """A name: its share of the probability of all sentences that differ in the name only."""
    full, example = world.full(), examples("name", FULL)[0]
    start, people = example.masked[0], {entity.words for entity in full.facts.kind("person") if len(entity.words) == 2}
    chances = {}
    for name in sorted(people):
        words = (*example.words[:start], *name, *example.words[start + 2:])
        if (logprob := full.logprob(words)) > -1e9:
            chances[name] = logprob
    together = full.joint(list(example.words), example.masked, "test")
    assert set(chances) == set(together)
    true = example.words[start:start + 2]
    share = 1 / sum(2.718281828459045 ** (other - chances[true]) for other in chances.values())
    assert masked_words.exact(example, FULL).joint == pytest.approx(-log(share))


def test_what_is_measured(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """An untrained model has twice the loss on a name that it has on a word, and samples no name."""
    from plmlab.models.mpnet import MPNetConfig, MPNetPretraining
    from plmlab.world.datasets.tokenizer import world_tokenizer

    few = {kind: examples(kind, FULL)[:5] for kind in KINDS}
    monkeypatch.setattr(masked_words, "examples", lambda kind, source: few[kind])
    monkeypatch.setattr(unseen_sentences, "PLANS", ("MPNet",))
    monkeypatch.setattr(unseen_sentences, "load_model", lambda folder, model: MPNetPretraining(
        MPNetConfig(len(world_tokenizer()), 64, 1, 16, 2, 32)).eval())
    told = unseen_sentences.measure(parts)
    new = told["models"]["MPNet"]
    assert new["single word"]["nats"] == pytest.approx(log(len(world_tokenizer())), rel=0.1)
    assert new["name"]["nats"] == pytest.approx(2 * log(len(world_tokenizer())), rel=0.1)
    assert new["name"]["ungrammatical"] == 1
    assert set(told["exact"]) == set(KINDS) and told["exact"]["name"]["count"] == 5
    assert told["exact"]["name"]["joint"] < told["exact"]["name"]["independent"]
