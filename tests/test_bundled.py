"""The checkpoints that come with the course: whole, as good as their README says, and the world's own words."""

import re

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch02.bundled import above_floor
from plmlab.chapters.ch03 import bundled
from plmlab.chapters.ch03.noisy_translation import (
    ARMS,
    LONGEST,
    SEEDS,
    SOURCES,
    beamed,
    exam,
    judged,
    likeliest,
    spelling,
)
from plmlab.chapters.ch04 import arms as passage_arms
from plmlab.chapters.ch04 import bundled as passage_translators
from plmlab.chapters.ch04 import translation
from plmlab.chapters.ch10 import bundled as remembering
from plmlab.chapters.ch10 import recalling
from plmlab.chapters.ch10.arms import said
from plmlab.chapters.ch14 import bundled as hopping
from plmlab.chapters.ch14.arms import BOTH, answer
from plmlab.chapters.ch14.exam import by_group
from plmlab.chapters.ch16 import bundled as looking_up
from plmlab.chapters.ch16.arms import FULL, outcomes
from plmlab.checkpoints import home, load, names
from plmlab.objectives import blank_infilling, causal, masked, masked_and_permuted, permuted_targets, two_way, unified
from plmlab.pretraining.material import WORLD_HELD_OUT
from plmlab.vectors.learning import vectors_of
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import bilingual_spelling, world_tokenizer

VECTORS = ("skipgram-world", "skipgram-wikipedia")
TRANSLATORS = tuple(passage_translators.BUNDLED)
CASES = {"bert-world": (masked, 32), "elmo-world": (two_way, 64), "glm-world": (blank_infilling, 32),
         "gpt2-world": (causal, 64), "lstm-world": (causal, 64), "mpnet-world": (masked_and_permuted, 32),
         "unilm-world": (unified, 32), "xlnet-world": (permuted_targets, 32)}
BILINGUAL = ("unilm-world",)
"""Those that have read Chinese too."""


def test_each_has_its_case() -> None:
    assert set(names()) == {*CASES, *VECTORS, *TRANSLATORS, bundled.NAME, remembering.NAME, hopping.NAME,
                            looking_up.START, looking_up.NAME}


def told(name: str, figure: str) -> float:
    """A figure of a checkpoint's README."""
    found = re.search(rf"\| {figure} \| ([\d.,]+)", (home() / name / "README.md").read_text(encoding="utf-8"))
    assert found
    return float(found[1].replace(",", ""))


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_are_as_many_as_their_readme_tells(name: str) -> None:
    model, tokenizer = load(name)
    vectors = vectors_of(model, tokenizer)
    assert vectors.matrix.shape == (told(name, "words"), told(name, "numbers a word"))
    assert sum(path.stat().st_size for path in (home() / name).iterdir()) < 4e6


def test_the_worlds_vectors_reach_the_loss_that_their_readme_tells() -> None:
    model, tokenizer = load("skipgram-world")
    above = above_floor(model, tokenizer)
    assert above == pytest.approx(told("skipgram-world", "loss above the least, %"), rel=2e-3)
    assert 0 < above < 10
    assert set(vectors_of(model, tokenizer).words) <= set(world.full().vocabulary)


def test_neighbours_in_the_sample_are_words_of_one_kind() -> None:
    found = {near.word for near in vectors_of(*load("skipgram-wikipedia")).neighbours("three", 5)}
    assert len(found & {"one", "two", "four", "five", "six", "seven", "eight", "nine", "ten"}) >= 3


def test_the_translator_does_what_its_readme_tells() -> None:
    translator, tokenizer = load(bundled.NAME)
    lost = ARMS[bundled.ARM].lost
    telegrams = exam(lost, LONGEST, SEEDS[0], SOURCES)
    empty = judged(lost, telegrams, [likeliest(translator, telegram) for telegram in telegrams])["empty"]
    right = judged(lost, telegrams, beamed(translator, telegrams, 1))["right"]
    assert empty == pytest.approx(told(bundled.NAME, "share whose likeliest translation is empty"), abs=0.04) and empty
    assert right == pytest.approx(told(bundled.NAME, "share that greedy search gets right"), abs=0.04)
    assert tokenizer.fingerprint == spelling().fingerprint


@pytest.mark.parametrize("name", TRANSLATORS)
def test_a_translator_of_passages_does_what_its_readme_tells(name: str) -> None:
    model, tokenizer = load(name)
    arm = passage_arms.ARMS[passage_translators.BUNDLED[name][0]]
    some = translation.exam(30, passage_arms.SEEDS[0], passage_translators.COUNT)
    right = translation.judged(translation.translations(model, some, arm), some)["exact"]
    assert right == pytest.approx(told(name, "30 words: share right to the last word"), abs=0.04)
    lost = told(name, "30 words: loss, nats a word")
    assert translation.loss(model, some, arm) == pytest.approx(lost, rel=2e-2, abs=1e-3)
    assert tokenizer.fingerprint == translation.spelling().fingerprint


def test_the_transformer_xl_answers_as_its_readme_tells() -> None:
    model, tokenizer = load(remembering.NAME)
    exam = said(model, "exam")
    assert tokenizer.fingerprint == recalling.spelling().fingerprint
    for figure, found in (("nats an answer", exam.answers), ("nats a word", exam.all)):
        assert found == pytest.approx(told(remembering.NAME, figure), abs=6e-4)
    for most, share in exam.right.items():
        figure = f"right answers, read {int(most) - recalling.BIN + 1} to {most} slots back"
        assert share == pytest.approx(told(remembering.NAME, figure), abs=6e-3)


@pytest.mark.parametrize("name", CASES)
def test_a_checkpoint_reaches_the_loss_that_its_readme_tells(name: str) -> None:
    objective, batch = CASES[name]
    model, tokenizer = load(name)
    held_out = sentence_batches(world.full(), "test", tokenizer, objective, batch, seed=1)
    nats, count = 0.0, 0
    with torch.no_grad():
        for i in range(-(-WORLD_HELD_OUT // batch)):
            asked = int(((rows := held_out(i)).targets >= 0).sum())
            nats, count = nats + float(model.loss(rows)) * asked, count + asked
    told = (home() / name / "README.md").read_text(encoding="utf-8")
    loss, floor = (float(re.search(rf"\| {figure}[^|]*\| ([\d.]+)", told)[1])  # type: ignore[index]
                   for figure in ("held-out loss", "floor"))
    assert nats / count == pytest.approx(loss, rel=2e-3)
    assert floor < loss < 2 * floor


@pytest.mark.parametrize("name", CASES)
def test_its_tokens_are_the_words_of_the_full_world(name: str) -> None:
    _, tokenizer = load(name)
    words = bilingual_spelling() if name in BILINGUAL else world_tokenizer(world.full(), ["english"])
    assert tokenizer.fingerprint == words.fingerprint


def test_the_cogqa_answers_as_its_readme_tells() -> None:
    model, _ = load(hopping.NAME)
    for group, found in by_group(answer(BOTH, model), ["one hop", "3 hops"]).items():
        assert found["exact"] == pytest.approx(told(hopping.NAME, f"right answers, {group}"), abs=0.006)


@pytest.mark.parametrize("name", [looking_up.START, looking_up.NAME])
def test_a_realm_finds_and_answers_as_its_readme_tells(name: str) -> None:
    model, tokenizer = load(name)
    assert tokenizer.fingerprint == world_tokenizer(world.full(), ["english"]).fingerprint
    for figure, value in outcomes(FULL, model).items():
        assert value == pytest.approx(told(name, figure), abs=0.006), figure
