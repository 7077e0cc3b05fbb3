"""The recipe of chapter 11 on the smallest of scales, and the floors of the very Examples that are judged."""

from collections.abc import Callable
from typing import Any

import pytest

from plmlab import world
from plmlab.chapters.ch11 import arms, hidden
from plmlab.recipes import Parts
from studies.ch11 import pretrained, price, recipe, remembering, tuned, unread


@pytest.fixture(autouse=True)
def small_scale(monkeypatch: pytest.MonkeyPatch, best_at: Callable[[float], Any]):
    """Two batches of eight sentences to judge by, six gaps of a kind, and few updates of little models."""
    few = {kind: hidden.masked_words(kind)[:6] for kind in hidden.KINDS}
    monkeypatch.setattr(hidden, "masked_words", lambda kind, source=hidden.SMALL: few[kind])
    for name, value in (("SEEDS", (0, 1)), ("BUDGETS", (1, 2)), ("PLATEAU", (2,)), ("lr_score", best_at(3e-3)),
                        ("BATCH", 8), ("WIDTH", 16), ("JUDGED", 2)):
        monkeypatch.setattr(arms, name, value)
    for module in (arms, price):
        monkeypatch.setattr(module, "JUDGED_TEXTS", 8)
    monkeypatch.setattr(price, "COUNTED", 5)
    arms.evaluation_batches.cache_clear()
    yield
    arms.evaluation_batches.cache_clear()


def test_the_recipe_puts_its_experiments_together(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tuned and asked is pretrained before: the rival lies in the folder of the parts."""
    made = []

    def told(name: str) -> Callable[[Parts], dict[str, str]]:
        def measure(given: Parts) -> dict[str, str]:
            assert given is parts
            made.append(name)
            return {"of": name}
        return measure
    for module, name in ((remembering, "memory"), (pretrained, "pretrained"), (tuned, "tuned"), (unread, "unread")):
        monkeypatch.setattr(module, "measure", told(name))
    monkeypatch.setattr(recipe, "compared", told("arms"))
    assert recipe.main(parts) == {"of": "arms", **{name: {"of": name} for name in made[1:]}}
    assert made[0] == "arms" and made.index("pretrained") < min(made.index("tuned"), made.index("unread"))
    assert set(made[1:]) == {"memory", "pretrained", "tuned", "unread"}


def test_the_arms_are_compared(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = ("GPT", "BERT", "XLNet", "XLNet, single words")
    monkeypatch.setattr(arms, "ARMS", {name: arms.ARMS[name] for name in chosen})
    monkeypatch.setattr(arms, "LIKE", {"XLNet, single words": "XLNet"})
    monkeypatch.setattr(price, "ARMS", arms.ARMS)
    monkeypatch.setattr(hidden, "KINDS", {kind: hidden.KINDS[kind] for kind in ("a word", "a name")})
    monkeypatch.setattr(hidden, "read", lambda kind, source: 0.75)
    told = recipe.compared(parts)
    assert set(told["arms"]) == set(chosen) and told["arms"]["XLNet, single words"]["lr"] == 3e-3
    for name, arm in told["arms"].items():
        assert set(arm["updates"]) == ({"2"} if name == "XLNet, single words" else {"1", "2"})
        assert all(4 < found["loss"]["mean"] < 8 for found in arm["updates"].values())
        assert (set(arm["updates"]["2"]) == {"loss", *hidden.KINDS}) == (name != "GPT")
    xlnet = told["arms"]["XLNet"]["updates"]["2"]
    model = arms.learn("XLNet", 2, 3e-3, 1)
    masked_words = hidden.masked_words("a word")
    assert xlnet["a word"]["nats"]["values"][1] == pytest.approx(
        float(hidden.nats(arms.ARMS["XLNet"], model.eval(), [(gap, gap.hidden) for gap in masked_words]).mean()))
    assert (told["exact"]["a name"]["gaps"], told["exact"]["a name"]["read"]) == (6, 0.75)
    assert 0 < told["exact"]["a name"]["together"] < told["exact"]["a name"]["apart"]


def test_floors_are_those_of_the_sentences_that_are_judged() -> None:
    """Of GPT: the mean of −log p of these sentences, exactly. Who sees [SEP] pays the same to both readers."""
    small = world.small()
    sentences = [words for step in range(2) for words in _judged_sentences(step)]
    nats = -sum(small.logprob(words, "test") for words in sentences)
    tokens = sum(len(words) + 1 for words in sentences)
    found = price.floors("GPT")
    assert found["told the length"] == pytest.approx(nats / tokens, abs=1e-9)
    assert found["positions in sight"] == pytest.approx(nats / tokens, abs=1e-9)
    both = price.floors("MPNet")
    assert both["told the length"] == pytest.approx(both["positions in sight"], abs=1e-9)


def _judged_sentences(step: int) -> list[list[str]]:
    """As the batches say them: their tokens, read off."""
    from plmlab.world.datasets.tokenizer import small_world_tokenizer

    batch, _ = arms.evaluation_batches("GPT", "test")[step]
    special = small_world_tokenizer().vocab.special
    return [small_world_tokenizer().tokens([token for token in row if token not in special])
            for row in batch.tokens.tolist()]


def test_what_is_read_is_the_same_text() -> None:
    read = {name: price.words_read(name) for name in ("BERT", "MPNet", "XLNet", "GPT")}
    assert read["BERT"]["thousand"] == read["MPNet"]["thousand"] == read["XLNet"]["thousand"]
    less = price.COUNTED * price.BATCH / 1000
    assert read["GPT"]["thousand"] == pytest.approx(read["BERT"]["thousand"] - less), "a token a sentence less"
    assert read["GPT"]["asked"] == 1 and 0.25 < read["XLNet"]["asked"] < read["BERT"]["asked"] < 0.31
