"""Who reads what: losses by two ways, mixtures against brute force, no exam in what is read, distances by hand."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from toy_size import changed

from plmlab import world
from plmlab.chapters.ch03 import amounts
from plmlab.chapters.ch03.baselines import Text, counted_losses, network_losses, outcome
from plmlab.models.ngram import AddK, KneserNey
from plmlab.recipes import Parts, recorded
from plmlab.recipes.study import Run
from plmlab.text import articles
from plmlab.world.datasets.excess_loss import test_set as evaluation_set
from studies.ch03 import amounts as amounts_study
from studies.ch03 import ngrams, wikipedia
from studies.ch03.lstm import build, train
from studies.ch03.ngrams import best_order, best_share, mixed, smoothed

pytestmark = pytest.mark.usefixtures("one_thread", "less_text")


@pytest.fixture(scope="module")
def less_text() -> Iterator[None]:
    """No more than 8,000 sentences of the world are read, 120 asked; and a tenth of the Wikipedia sample."""
    some, tenth = evaluation_set(world.full())[:120], articles()[:len(articles()) // 10]
    with changed((amounts, "MOST", 8000), (amounts, "test_set", lambda full: some),
                 (wikipedia, "articles", lambda: tenth),
                 forget=(amounts.test_sentences, amounts.text, wikipedia.parted, wikipedia.text)):
        yield


def little() -> Text:
    whole = amounts.text(1000)
    return Text(whole.read[:200], whole.development[:40], whole.test_set[:40], whole.vocab)


def test_losses_come_in_the_order_of_the_words():
    text = little()
    model = build(text.vocab.size, 8, 0.0, 0)
    train(model, text, 3, 1e-2, 0, show=False)
    found = network_losses(model, text, text.test_set)
    for sentences in (text.test_set[:1], text.test_set[:9]):
        alone = network_losses(model, text, sentences)
        assert torch.allclose(found[:len(alone)], alone, atol=1e-5)
    assert len(found) == len(counted_losses(KneserNey(text.read, 2, text.vocab), text.test_set))
    [batch] = text.batches(text.test_set)
    assert found.mean().item() == pytest.approx(model.loss(batch).item(), abs=1e-5)


def test_a_mixture_is_the_mean_of_probabilities_and_its_share_the_best():
    one, other = -torch.tensor([0.5, 0.1, 0.9]).log(), -torch.tensor([0.25, 0.3, 0.1]).log()
    assert mixed(one, other, 0.25).tolist() == pytest.approx([-math.log(0.3125), -math.log(0.25), -math.log(0.3)])
    assert best_share(one, one + 1) == 1 and best_share(one + 1, one) == 0
    share = best_share(one, other)
    assert all(mixed(one, other, share).mean() <= mixed(one, other, i / 100).mean() + 1e-3 for i in range(101))


def test_the_order_and_k_are_chosen_on_the_development_sentences():
    text = little()
    order, tried = best_order(text, smoothed(text, "Kneser–Ney"))
    assert tried[order] == min(tried.values())
    third = counted_losses(KneserNey(text.read, 3, text.vocab), text.development)
    assert tried[3] == pytest.approx(third.mean().item())
    best = smoothed(text, "add k")(2)
    assert isinstance(best, AddK)
    pays = {k: counted_losses(AddK(text.read, 2, text.vocab, k), text.development).mean() for k in (1e-3, 1e-2, 1e-1)}
    assert best.k == min(pays, key=lambda k: pays[k])


def test_the_exam_was_read_by_nobody():
    read = {tuple(ids) for ids in amounts.text(amounts.MOST).read}
    assert not read & {tuple(ids) for ids in amounts.text(1000).test_set}
    assert amounts.text(1000).read == amounts.text(8000).read[:1000]
    assert 0 < len(amounts.test_sentences()) < len({one.words for one in amounts.test_set(world.full())})


def test_the_best_reader_pays_least():
    assert amounts.best_loss() == pytest.approx(world.full().entropy("test").token, abs=0.4)
    model = KneserNey(amounts.text(1000).read, 3, amounts.text(1000).vocab)
    found = amounts.excess_loss(model)
    assert all(gap > 0 for gap in found["gaps"].values())
    paid = counted_losses(model, amounts.text(1000).test_set).mean().item()
    assert found["gaps"]["all"] == pytest.approx(paid - amounts.best_loss(), abs=0.15)


def test_distances_of_verbs():
    sentence = next(one for one in world.full().sentences("test", seed=3)
                    if any(link.verb - link.subject > 2 for link in one.agreement))
    [link] = [link for link in sentence.agreement if link.verb - link.subject > 2][:1]
    assert link.verb - link.subject in amounts.distances([sentence])


def test_wikipedia_is_parted_by_article_and_rare_words_are_unknown():
    parted, text = wikipedia.parted(), wikipedia.text()
    assert sum(map(len, parted.values())) == len(text.read) + len(text.development) + len(text.test_set)
    assert len(text.read) > 6 * len(text.test_set) > 0
    counts: dict[int, int] = {}
    for ids in text.read:
        for token in ids:
            counts[token] = counts.get(token, 0) + 1
    assert min(counts.values()) >= wikipedia.LEAST


def test_what_was_seen_together():
    text = wikipedia.text()
    first = list(text.read[0])
    assert wikipedia.seen([first]) == [0] * (len(first) + 1)
    twice = {pair for ids in text.read for pair in pairwise(ids)}
    never = next(word for word in text.vocab.words if (word, word) not in twice)
    assert wikipedia.seen([[never, never]])[1] == 2


def best_at(rate: float, dropout: float) -> Callable[[Run], float]:
    """A development score that is highest at this rate, and with this dropout."""
    return lambda run: -abs(run.lr - rate) - abs(run.arm[-1] - dropout)


def test_a_little_recipe_has_what_the_chapter_draws(parts: Parts, monkeypatch: pytest.MonkeyPatch):
    for module, name, value in ((amounts_study, "WIDTH", 8), (amounts_study, "SMOOTHING_METHODS", ("Kneser–Ney",)),
                                (ngrams, "ORDERS", (2,))):
        monkeypatch.setattr(module, name, value)
    arms = {(1000, dropout): (3e-3, 1e-2, 3e-2) for dropout in (0.0, 0.3)}
    toy = replace(amounts_study.STUDY, arms=arms, updates=(2,), seeds=(0,), pilots=(8,), nothing=-math.inf,
                  development=best_at(1e-2, 0.3))
    told = amounts_study.measure(parts, toy)["amounts"]["1000"]
    assert told["best n-gram"] == "Kneser–Ney" and told["Kneser–Ney"]["order"] == 2
    assert (told["LSTM"]["dropout"], told["LSTM"]["lr"], list(told["LSTM"]["tried"])) == (0.3, 1e-2, ["0", "0.3"])
    assert told["LSTM"]["mixed"]["mean"] <= told["LSTM"]["loss"]["mean"]
    assert set(told["LSTM"]["gaps"]) == set(told["Kneser–Ney"]["gaps"])


def test_the_record_of_real_text_has_what_the_chapter_draws(parts: Parts, monkeypatch: pytest.MonkeyPatch):
    whole = wikipedia.text()
    some = Text(whole.read[:200], whole.development[:20], whole.test_set[:20], whole.vocab)
    for module, name, value in ((wikipedia, "text", lambda: some), (wikipedia, "WIDTH", 8), (ngrams, "ORDERS", (1, 2)),
                                (wikipedia, "SMOOTHING_METHODS", ("Kneser–Ney",))):
        monkeypatch.setattr(module, name, value)
    toy = replace(wikipedia.STUDY, arms=dict.fromkeys(wikipedia.STUDY.arms, (1e-3, 3e-3, 1e-2)), seeds=(0,),
                  updates={(0.0,): (2,), (0.3,): (2, 3)}, development=best_at(3e-3, 0.3), nothing=-math.inf)
    told = wikipedia.measure(parts, toy)
    net, counted = told["LSTM"], told["Kneser–Ney"]
    assert (net["dropout"], net["updates"], net["lr"]) == (0.3, 2, 3e-3) and told["best n-gram"] == "Kneser–Ney"
    assert [(one["dropout"], one["updates"]) for one in net["tried"]] == [(0.0, 2), (0.3, 2), (0.3, 3)]
    assert net["mixed"]["mean"] <= max(net["loss"]["mean"], counted["loss"]) + 1e-6
    assert sum(told["seen"].values()) == pytest.approx(1)
    shares = [told["seen"][kind] * counted["seen"][kind] for kind in wikipedia.SEEN]
    assert sum(shares) == pytest.approx(counted["loss"])
    assert recorded("03")["numbers"]["wikipedia"]["words"] == wikipedia.WORDS


@pytest.mark.parametrize("low, high, told", [(1.0, 1.4, "wins"), (1.4, 1.6, "neither"), (1.6, 1.7, "loses")])
def test_to_win_is_to_pay_less_with_each_seed(low: float, high: float, told: str):
    recorded = {"best n-gram": "add k", "add k": {"loss": 1.5}, "LSTM": {"loss": {"low": low, "high": high}}}
    assert outcome(recorded) == told
