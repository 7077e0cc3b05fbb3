"""Hidden words of sentences that nobody read: none is training text, and who knows the grammar pays its price."""

from itertools import islice
from math import log

import pytest

from plmlab import world
from plmlab.chapters.ch11 import hidden
from plmlab.chapters.ch11.hidden import KINDS, masked_words
from plmlab.recipes import Parts
from plmlab.world.grammar.splits import is_test
from studies.ch11 import unread
from studies.ch11.unread import FULL


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_read_what_is_asked_but_all_of_its_names(kind: str) -> None:
    full, test_set = world.full(), masked_words(kind, FULL)
    assert len({gap.words for gap in test_set}) == len(test_set) == hidden.COUNT
    assert hidden.read(kind, FULL) == 0
    for gap in test_set:
        sentence = full.parse(gap.words)
        assert is_test(gap.words) and sentence.pattern in full.open_patterns and not sentence.facts
        assert not {mention.entity for mention in sentence.mentions} & full.held.entities


def test_of_what_was_left_out_much_would_have_been_read() -> None:
    full = world.full()
    asked = {sentence.words for sentence in unread.held_back(full)}
    closed = {sentence.words for sentence in hidden.different(full)} - asked
    told = {tuple(words) for words in islice(full.text("train", seed=3), 20_000)}
    assert not asked & told and len(closed & told) > len(closed) / 2


def test_the_exact_reader_of_the_full_world_by_hand() -> None:
    """Of a name: by counting among all sentences that the grammar could have said there."""
    full, gap = world.full(), masked_words("a name", FULL)[0]
    start, people = gap.hidden[0], {entity.words for entity in full.facts.kind("person") if len(entity.words) == 2}
    chances = {}
    for name in sorted(people):
        words = (*gap.words[:start], *name, *gap.words[start + 2:])
        if (logprob := full.logprob(words)) > -1e9:
            chances[name] = logprob
    together = full.joint(list(gap.words), gap.hidden, "test")
    assert set(chances) == set(together)
    true = gap.words[start:start + 2]
    share = 1 / sum(2.718281828459045 ** (other - chances[true]) for other in chances.values())
    assert hidden.exact(gap, FULL).together == pytest.approx(-log(share))


def test_what_is_measured(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that knows nothing pays for a name twice what it pays for a word, and says none."""
    from plmlab.models.mpnet import MPNetConfig, MPNetPretraining
    from plmlab.world.datasets.tokenizer import world_tokenizer

    few = {kind: masked_words(kind, FULL)[:5] for kind in KINDS}
    monkeypatch.setattr(hidden, "masked_words", lambda kind, source: few[kind])
    monkeypatch.setattr(unread, "PLANS", ("MPNet",))
    monkeypatch.setattr(unread, "pretrained", lambda folder, model: MPNetPretraining(
        MPNetConfig(len(world_tokenizer()), 64, 1, 16, 2, 32)).eval())
    told = unread.measure(parts)
    new = told["models"]["MPNet"]
    assert new["a word"]["nats"] == pytest.approx(log(len(world_tokenizer())), rel=0.1)
    assert new["a name"]["nats"] == pytest.approx(2 * log(len(world_tokenizer())), rel=0.1)
    assert new["a name"]["impossible"] == 1
    assert set(told["exact"]) == set(KINDS) and told["exact"]["a name"]["gaps"] == 5
    assert told["exact"]["a name"]["together"] < told["exact"]["a name"]["apart"]
