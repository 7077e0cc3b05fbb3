"""The bundled word vectors are what their READMEs state."""

from collections.abc import Callable

import pytest
from readmes import stated

from plmlab import world
from plmlab.chapters.ch02.bundled import above_floor
from plmlab.checkpoints import home, load
from plmlab.vectors.learning import vectors_of

WORLD, WIKIPEDIA = "skipgram-world", "skipgram-wikipedia"


@pytest.mark.parametrize("name", [WORLD, WIKIPEDIA])
def test_vectors_are_as_many_as_their_readme_tells(name: str) -> None:
    vectors = vectors_of(*load(name))
    assert vectors.matrix.shape == (stated(name, "words"), stated(name, "dimensions"))
    assert sum(path.stat().st_size for path in (home() / name).iterdir()) < 4e6


@pytest.mark.bundled
@pytest.mark.parametrize("name", [WORLD])
def test_the_worlds_vectors_reach_the_loss_that_their_readme_tells(name: str) -> None:
    above = above_floor(*load(name))
    assert above == pytest.approx(stated(name, "excess loss over the minimum, %"), rel=2e-3)
    assert 0 < above < 10


@pytest.mark.parametrize("name", [WORLD])
def test_neighbours_in_the_world_are_as_near(name: str, same_ten: Callable[[str, float], None]) -> None:
    vectors = vectors_of(*load(name))
    assert set(vectors.words) <= set(world.full().vocabulary)
    same_ten(name, sum(near.score for near in vectors.neighbours("river", 10)))


def test_neighbours_in_the_sample_are_words_of_one_kind() -> None:
    found = {near.word for near in vectors_of(*load(WIKIPEDIA)).neighbours("three", 5)}
    assert len(found & {"one", "two", "four", "five", "six", "seven", "eight", "nine", "ten"}) >= 3
