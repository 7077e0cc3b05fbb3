"""The recipe of chapter 11 at toy size, and the floors of its evaluation set."""

from collections.abc import Callable
from typing import Any

import pytest

from plmlab import world
from plmlab.chapters.ch11 import arms, masked_words
from plmlab.recipes import Parts
from studies.ch11 import fine_tuning, floors, memory_ablation, pretrained, recipe, unseen_sentences


@pytest.fixture(autouse=True)
def small_scale(monkeypatch: pytest.MonkeyPatch, best_at: Callable[[float], Any]):
    """Two evaluation batches of eight sentences, six examples of each kind, and few updates of small models."""
    few = {kind: masked_words.examples(kind)[:6] for kind in masked_words.KINDS}
    monkeypatch.setattr(masked_words, "examples", lambda kind, source=masked_words.SMALL: few[kind])
    for name, value in (("SEEDS", (0, 1)), ("BUDGETS", (1, 2)), ("LONG_BUDGETS", (2,)), ("lr_score", best_at(3e-3)),
                        ("BATCH", 8), ("WIDTH", 16), ("EVAL_BATCHES", 2)):
        monkeypatch.setattr(arms, name, value)
    for module in (arms, floors):
        monkeypatch.setattr(module, "EVAL_BATCH_SIZE", 8)
    monkeypatch.setattr(floors, "UPDATES_COUNTED", 5)
    arms.evaluation_batches.cache_clear()
    yield
    arms.evaluation_batches.cache_clear()


def test_the_recipe_puts_its_experiments_together(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """The models are pretrained before they are fine-tuned and evaluated."""
    made = []

    def told(name: str) -> Callable[[Parts], dict[str, str]]:
        def measure(given: Parts) -> dict[str, str]:
            assert given is parts
            made.append(name)
            return {"of": name}
        return measure
    for module, name in ((memory_ablation, "memory"), (pretrained, "pretrained"), (fine_tuning, "fine-tuned"),
                         (unseen_sentences, "unseen")):
        monkeypatch.setattr(module, "measure", told(name))
    monkeypatch.setattr(recipe, "compare_variants", told("arms"))
    assert recipe.main(parts) == {"of": "arms", **{name: {"of": name} for name in made[1:]}}
    assert made[0] == "arms" and made.index("pretrained") < min(made.index("fine-tuned"), made.index("unseen"))
    assert set(made[1:]) == {"memory", "pretrained", "fine-tuned", "unseen"}


def test_the_variants_are_compared(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = ("GPT", "BERT", "XLNet", "XLNet, single-word targets")
    monkeypatch.setattr(arms, "ARMS", {name: arms.ARMS[name] for name in chosen})
    monkeypatch.setattr(arms, "LR_FROM", {"XLNet, single-word targets": "XLNet"})
    monkeypatch.setattr(floors, "ARMS", arms.ARMS)
    monkeypatch.setattr(masked_words, "KINDS", {kind: masked_words.KINDS[kind] for kind in ("single word", "name")})
    monkeypatch.setattr(masked_words, "fraction_in_training", lambda kind, source: 0.75)
    told = recipe.compare_variants(parts)
    assert set(told["arms"]) == set(chosen) and told["arms"]["XLNet, single-word targets"]["lr"] == 3e-3
    for name, arm in told["arms"].items():
        assert set(arm["updates"]) == ({"2"} if name == "XLNet, single-word targets" else {"1", "2"})
        assert all(4 < found["loss"]["mean"] < 8 for found in arm["updates"].values())
        assert (set(arm["updates"]["2"]) == {"loss", *masked_words.KINDS}) == (name != "GPT")
    xlnet = told["arms"]["XLNet"]["updates"]["2"]
    model = arms.train("XLNet", 2, 3e-3, 1)
    assert xlnet["single word"]["nats"]["values"][1] == pytest.approx(
        float(masked_words.nats(arms.ARMS["XLNet"], model.eval(), [
            (example, example.masked) for example in masked_words.examples("single word")]).mean()))
    assert (told["exact"]["name"]["count"], told["exact"]["name"]["in training"]) == (6, 0.75)
    assert 0 < told["exact"]["name"]["joint"] < told["exact"]["name"]["independent"]


def test_floors_are_those_of_the_evaluation_sentences() -> None:
    """GPT's is the mean of −log p of these sentences; with [SEP] visible, both predictors have the same loss."""
    small = world.small()
    sentences = [words for step in range(2) for words in _evaluation_sentences(step)]
    nats = -sum(small.logprob(words, "test") for words in sentences)
    tokens = sum(len(words) + 1 for words in sentences)
    found = floors.floors("GPT")
    assert found["length known"] == pytest.approx(nats / tokens, abs=1e-9)
    assert found["positions known"] == pytest.approx(nats / tokens, abs=1e-9)
    both = floors.floors("MPNet")
    assert both["length known"] == pytest.approx(both["positions known"], abs=1e-9)


def _evaluation_sentences(step: int) -> list[list[str]]:
    """The sentences of an evaluation batch, decoded from its tokens."""
    from plmlab.world.datasets.tokenizer import small_world_tokenizer

    batch, _ = arms.evaluation_batches("GPT", "test")[step]
    special = small_world_tokenizer().vocab.special
    return [small_world_tokenizer().tokens([token for token in row if token not in special])
            for row in batch.tokens.tolist()]


def test_all_variants_read_the_same_text() -> None:
    read = {name: floors.training_tokens(name) for name in ("BERT", "MPNet", "XLNet", "GPT")}
    assert read["BERT"]["thousand tokens"] == read["MPNet"]["thousand tokens"] == read["XLNet"]["thousand tokens"]
    less = floors.UPDATES_COUNTED * floors.BATCH / 1000
    assert read["GPT"]["thousand tokens"] == pytest.approx(read["BERT"]["thousand tokens"] - less)  # no [SEP]
    fractions = {name: counts["target fraction"] for name, counts in read.items()}
    assert fractions["GPT"] == 1 and 0.25 < fractions["XLNet"] < fractions["BERT"] < 0.31
