"""Telegrams, who may translate them how, the ideal reader, and the experiment on the smallest of scales."""

from dataclasses import replace
from functools import partial
from itertools import combinations, product
from random import Random

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch03 import noisy_translation
from plmlab.chapters.ch03.noisy_translation import (
    ARMS,
    Arm,
    beamed,
    evaluate_translations,
    is_model_error,
    learn,
    lessons,
    likeliest,
    pairs,
    tokenizer,
    verdict,
    written,
)
from plmlab.chapters.ch03.noisy_translation import (
    test_set as evaluation_set,
)
from plmlab.chapters.ch03.telegrams import draw, is_correct, sentences, split_sentences
from plmlab.decode import Hypothesis
from plmlab.models.transformer import Transformer
from plmlab.recipes import Parts
from plmlab.recipes.study import Run
from studies.ch03 import ideal_reader
from studies.ch03 import noisy_translation as study
from studies.ch03.ideal_reader import arrivals, ideal_reading, learned_perfectly, prefers_empty
from studies.ch03.noisy_translation import empty_chances

pytestmark = pytest.mark.usefixtures("one_thread")


def is_subsequence(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """By dynamic programming, as independent of the judge's iterator as can be."""
    matched = 0
    for word in long:
        matched += matched < len(short) and word == short[matched]
    return matched == len(short)


def chinese_of(english: tuple[str, ...]) -> tuple[str, ...]:
    """Sentence by sentence: each ends with the one full stop that it has."""
    told: list[str] = []
    begun = 0
    for place, word in enumerate(english):
        if word == ".":
            told += world.small().parse(english[begun:place + 1]).chinese
            begun = place + 1
    return tuple(told)


def test_the_sentences_are_the_world_and_no_two_share_their_chinese() -> None:
    assert len(sentences()) == len({said.chinese for said in sentences()}) == len({s.english for s in sentences()})
    assert sum(said.chance for said in sentences()) == pytest.approx(1)
    drawn = world.small().sentences(seed=3)
    known = {said.english: said.chinese for said in sentences()}
    assert all(known[one.words] == one.chinese for one, _ in zip(drawn, range(200), strict=False))


@pytest.mark.parametrize("lost", [0.0, 0.5])
def test_a_telegram_is_the_chinese_with_words_lost(lost: float) -> None:
    rng = Random(0)
    told = [draw(lost, rng) for _ in range(400)]
    chinese = [chinese_of(telegram.target) for telegram in told]
    assert all(is_subsequence(telegram.source, whole) for telegram, whole in zip(told, chinese, strict=True))
    arrived = sum(len(telegram.source) for telegram in told) / sum(map(len, chinese))
    assert arrived == pytest.approx(1 - lost, abs=0.02)
    counts = [len(split_sentences(telegram.target) or ()) for telegram in told]
    assert all(0.18 < counts.count(n) / 400 < 0.32 for n in (1, 2, 3, 4)) and set(counts) == {1, 2, 3, 4}
    assert [draw(lost, Random(5), 3) for _ in range(2)] == [draw(lost, Random(5), 3)] * 2
    assert len(split_sentences(draw(lost, Random(5), 3).target) or ()) == 3


def test_a_telegram_always_says_something() -> None:
    rng = Random(0)
    assert all(draw(0.95, rng, 1).source for _ in range(300))
    with pytest.raises(ValueError, match="lost=1"):
        draw(1.0, rng)


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_the_share_of_empty_targets_is_the_noise(noise: float) -> None:
    arm = replace(ARMS["noise"], noise=noise)
    draws = lessons(arm, 4)
    first = torch.cat([draws(step).target.targets[:, 0] for step in range(40)])  # type: ignore[union-attr]
    share = first.eq(tokenizer().vocab.need("end")).float().mean()
    assert float(share) == pytest.approx(noise, abs=0.04) and (noise > 0) == (share > 0)
    same = lessons(arm, 4)(7), draws(7)
    assert torch.equal(same[0].source.tokens, same[1].source.tokens)  # type: ignore[union-attr]
    assert not torch.equal(draws(7).source.tokens[:, :5], draws(8).source.tokens[:, :5])  # type: ignore[union-attr]


def test_the_judge_takes_what_was_said_and_what_else_could_have_been() -> None:
    dogs, cats = (next(said for said in sentences() if said.english == tuple(f"the {what} are tired .".split()))
                  for what in ("dogs", "cats"))
    assert is_correct(dogs.chinese, dogs.english, 0.0) and is_correct(dogs.chinese, dogs.english, 0.5)
    without = tuple(word for word in dogs.chinese if word != "狗")
    assert is_correct(without, cats.english, 0.5) and is_correct(without, (*dogs.english, *cats.english), 0.5)
    assert not is_correct(without, dogs.english, 0.0)
    assert is_correct((*dogs.chinese, *cats.chinese), (*dogs.english, *cats.english), 0.0)


def test_the_judge_refuses_other_sentences_wrong_order_and_what_is_no_sentence() -> None:
    dogs, cats = (next(said for said in sentences() if said.english == tuple(f"the {what} are tired .".split()))
                  for what in ("dogs", "cats"))
    assert not is_correct(dogs.chinese, cats.english, 0.5)
    assert not is_correct((*dogs.chinese, *cats.chinese), (*cats.english, *dogs.english), 0.5)
    assert not is_correct(dogs.chinese[:1], dogs.english * 5, 0.5)
    for wrong in ((), dogs.english[:-1], (*dogs.english, "the"), ("dogs", "the", "are", "tired", ".")):
        assert not is_correct(dogs.chinese[:2], wrong, 0.5)


def test_arrivals_against_every_way_to_lose_words() -> None:
    source, lost = draw(0.6, Random(3), 1).source, 0.3
    told = arrivals(source, lost)
    for row in range(0, len(sentences()), 97):
        whole = sentences()[row].chinese
        for start, stop in product(range(len(source) + 1), repeat=2):
            piece = source[start:stop]
            ways = sum(kept == piece for kept in combinations(whole, len(piece))) if start <= stop else 0
            chance = ways * (1 - lost)**len(piece) * lost**(len(whole) - len(piece))
            assert float(told[row, start, stop]) == pytest.approx(chance, abs=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_the_ideal_reader_against_brute_force(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Over texts of one and two sentences of a world of 25; a source that only two of them can have."""
    few = sentences()[seed::33]
    total = sum(said.chance for said in few)
    few = tuple(replace(said, chance=said.chance / total) for said in few)
    monkeypatch.setattr(ideal_reader, "sentences", lambda: few)
    monkeypatch.setattr(ideal_reader, "LONGEST", 2)
    rng = Random(seed)
    said = few[int(rng.random() * len(few))], few[int(rng.random() * len(few))]
    source = tuple(word for one in said for word in one.chinese if rng.random() < 0.4)
    weights = {}
    for count in (1, 2):
        for texts in product(few, repeat=count):
            chinese = tuple(word for one in texts for word in one.chinese)
            ways = [1] + [0] * len(source)
            for word in chinese:
                for place in range(len(source), 0, -1):
                    ways[place] += ways[place - 1] * (word == source[place - 1])
            prior = 1.0
            for one in texts:
                prior *= one.chance
            weights[sum((one.english for one in texts), ())] = (
                prior * ways[-1] * 0.6**(len(chinese) - len(source)) * 0.4**len(source))
    reading = ideal_reading(source, 0.6)
    assert reading.probability == pytest.approx(max(weights.values()) / sum(weights.values()))
    assert weights[reading.english] == pytest.approx(max(weights.values()))


def test_the_ideal_reader_is_sure_where_nothing_is_lost_and_says_what_cannot_be() -> None:
    telegram = draw(0.0, Random(1), 3)
    reading = ideal_reading(telegram.source, 0.0)
    assert reading.english == telegram.target and reading.probability == pytest.approx(1)
    with pytest.raises(ValueError, match="cannot result from any text"):
        ideal_reading(("狗", "狗", "狗", "狗", "狗", "狗", "狗"), 0.5)


@pytest.fixture(scope="module")
def hasty() -> Transformer:
    """A model that saw a moment's training on single sentences without losses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plmlab.chapters.ch03.telegrams.LONGEST", 1)
        for name, value in (("BATCH", 16), ("WARMUP", 10)):
            patch.setattr(noisy_translation, name, value)
        return learn(Arm(0.0, 0.05, 0.0), 80, 1e-2, 0, show=False)[0].eval()


def test_a_run_is_the_same_for_a_seed() -> None:
    telegrams = evaluation_set(0.5, 2, 0, 3)
    one, again, other = (empty_chances(learn(ARMS["noise"], 2, 1e-2, seed, show=False)[0], telegrams)
                         for seed in (0, 0, 1))
    assert one == again != other
    assert evaluation_set(0.5, 2, 0, 3) == telegrams != evaluation_set(0.5, 2, 1, 3)


def test_the_chance_of_the_empty_text_is_that_of_a_first_end(hasty: Transformer) -> None:
    telegrams, end = evaluation_set(0.0, 2, 0, 4), tokenizer().vocab.end
    with torch.no_grad():
        for telegram, chance in zip(telegrams, empty_chances(hasty, telegrams), strict=True):
            assert float(hasty(pairs([telegram]))[0, 0].softmax(-1)[end]) == pytest.approx(chance, rel=1e-4)


def test_no_beam_finds_what_is_likelier_than_the_exact_best(hasty: Transformer) -> None:
    telegrams = evaluation_set(0.0, 1, 0, 4)
    best = [likeliest(hasty, telegram) for telegram in telegrams]
    others = [likeliest(hasty, telegram, empty=False) for telegram in telegrams]
    assert all(best) and any(others) and all(written(text) for text in others if text)
    assert all(one.tokens == two.tokens or not written(one) for one, two in zip(best, others, strict=True)
               if one and two)
    for beam in (1, 5):
        for text, found in zip(beamed(hasty, telegrams, beam), best, strict=True):
            assert found and text.logprob <= found.logprob + 1e-4
    assert likeliest(hasty, telegrams[0], limit=1) is None


def test_a_translation_that_was_not_found_is_neither_empty_nor_right() -> None:
    telegram, end = draw(0.0, Random(0), 1), tokenizer().vocab.need("end")
    right = Hypothesis((*tokenizer().encode(" ".join(telegram.target), plain=True), end))
    told = evaluate_translations(0.0, [telegram] * 4, [None, Hypothesis((end,)), right, right])
    assert told == {"empty": 0.25, "right": 0.5} and written(right) == telegram.target


def test_a_perfect_learner_prefers_the_empty_text_where_the_best_is_rarer() -> None:
    told = learned_perfectly(replace(ARMS["clean"], noise=0.025), [(0.5, 3), (0.025, 3), (0.03, 3)])
    assert told == {"empty": pytest.approx(1 / 3), "p(best)": 0.03}
    assert not prefers_empty(ARMS["clean"], 1e-9, 60)


def test_smoothing_takes_a_tenth_from_every_word_and_gives_a_share_to_the_first_end() -> None:
    """By hand: 0.9^31 · p against 0.1 / 318."""
    share = 0.1 / len(tokenizer())
    assert len(tokenizer()) == 318 and ARMS["smoothing"].smoothing == 0.1
    for factor, empty in ((0.99, True), (1.01, False)):
        assert prefers_empty(ARMS["smoothing"], factor * share / 0.9**31, 30) is empty
    both = replace(ARMS["smoothing"], noise=0.01)
    edge = (0.9 * 0.01 + share) / (0.99 * 0.9**11)
    assert prefers_empty(both, 0.99 * edge, 10) and not prefers_empty(both, 1.01 * edge, 10)


def best_at_3e_3(run: Run) -> float:
    return -abs(run.lr - 3e-3)


def test_measure_tells_every_arm_with_its_spread(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
            (noisy_translation, "LENGTH", 5), (noisy_translation, "BATCH", 4), (study, "PILOTED", ("clean", 1)),
            (study, "SOURCES", 2), (ideal_reader, "SOURCES", 2), (study, "BEAMS", (1, 2)), (study, "ALPHAS", (1.0,)),
            (study, "PENALISED", 2), (study, "LONGEST", 2), (study, "likeliest", partial(likeliest, limit=20))):
        monkeypatch.setattr(module, name, value)
    toy = replace(study.STUDY, arms={(name,): study.STUDY.arms[name,] for name in ("clean", "noise")}, seeds=(0, 1),
                  updates={("clean",): (1,), ("noise",): (2,)}, pilots=(9,), development=best_at_3e_3,
                  nothing=float("-inf"))
    whole = study.measure(parts, toy)
    told = whole["arms"]["noise"]
    assert whole["lr"] == 3e-3 and len(whole["rates"]) == 3 and list(whole["arms"]["clean"]["updates"]) == ["1"]
    assert set(told["ideal"]) == set(told["updates"]["2"]) == {"1", "2"}
    two = told["updates"]["2"]["2"]
    assert set(two) == {"exact", "exact, not empty", "not found", "other not found", "p(empty)", "p(best)", "beam 1",
                        "beam 2", "beam 2, alpha 1"}
    assert set(two["beam 2"]) == {"empty", "right", "search error"} and set(two["exact"]) == {"empty", "right"}
    assert two["exact"]["empty"]["seeds"] == [0, 1] and 0 <= two["not found"]["mean"] <= 1
    assert 0 <= told["ideal"]["2"]["empty"]["mean"] <= 1 and told["ideal"]["1"]["p(best)"]["low"] > 0


def test_the_rule_tells_apart_what_it_says() -> None:
    def arm(exact: float, one: float = 0.0, five: float = 0.0, greedy: float = 0.0, ideal: float = 0.0) -> dict:
        def point(empty: float) -> dict:
            return {"empty": {"mean": empty}}
        four = {"exact": point(exact), "beam 5": point(five), "beam 1": point(greedy)}
        return {"updates": {"1500": {"4": four, "1": {"exact": point(one)}}}, "ideal": {"4": point(ideal)}}
    clean = arm(0.01)
    for told, expected in ((arm(0.1, five=0.03), "supported"), (arm(0.3, five=0.11), "partly supported"),
                           (arm(0.09), "not supported"), (arm(0.2, one=0.2), "not supported"),
                           (arm(0.2, greedy=0.01), "not supported")):
        assert verdict({"clean": clean, "noise": told}, "noise") == expected
    assert verdict({"clean": arm(0.02), "noise": arm(0.2)}, "noise") == "not supported"
    assert not is_model_error({"noise": arm(0.2, ideal=0.1)}, "noise")
    assert is_model_error({"noise": arm(0.2, ideal=0.09)}, "noise")


def test_a_model_that_cannot_be_asked_is_no_search_that_was_given_up(hasty: Transformer) -> None:
    hasty.train()
    with pytest.raises(ValueError, match="eval"):
        likeliest(hasty, evaluation_set(0.0, 1, 0, 1)[0])
    hasty.eval()
