"""Words with a vector each: neighbours and analogies, beside gensim's on the same numbers."""

import pytest
import torch
from torch.testing import assert_close

from plmlab.vectors import Neighbour, WordVectors, to_keyed_vectors


def drawn(words: int = 60, size: int = 9) -> WordVectors:
    matrix = torch.randn(words, size, generator=torch.Generator().manual_seed(words))
    return WordVectors(tuple(f"w{i}" for i in range(words)), matrix)


def same(ours: list[Neighbour], theirs: list[tuple[str, float]]) -> None:
    assert [word for word, _ in ours] == [word for word, _ in theirs]
    assert_close([score for _, score in ours], [score for _, score in theirs], rtol=0, atol=1e-5)


WHOLE = WordVectors(("a", "b", "c", "d"), torch.tensor([[3., 4.], [6., 8.], [-4., 3.], [0., 0.]]))


def test_similarity_is_gensims() -> None:
    vectors, kv = drawn(), to_keyed_vectors(drawn())
    for one, other in [("w0", "w1"), ("w5", "w59"), ("w7", "w7")]:
        assert vectors.similarity(one, other) == pytest.approx(float(kv.similarity(one, other)), abs=1e-6)


@pytest.mark.parametrize("word", ["w0", "w31", "w59"])
@pytest.mark.parametrize("count", [1, 10, 59])
def test_neighbours_are_gensims(word: str, count: int) -> None:
    same(drawn().neighbours(word, count), to_keyed_vectors(drawn()).most_similar(word, topn=count))


def test_the_nearest_of_a_point_are_gensims() -> None:
    vector = torch.linspace(-2, 1, 9)
    same(drawn().near(vector, 7), to_keyed_vectors(drawn()).similar_by_vector(vector.numpy(), topn=7))


def test_the_nearest_by_dot_product() -> None:
    vectors = drawn()
    scores = {word: sum(x * y for x, y in zip(row, vectors["w3"].tolist(), strict=True))
              for word, row in zip(vectors.words, vectors.matrix.tolist(), strict=True) if word != "w3"}
    same(vectors.neighbours("w3", 5, dot=True), sorted(scores.items(), key=lambda pair: -pair[1])[:5])


@pytest.mark.parametrize("words", [("w0", "w1", "w2"), ("w9", "w4", "w4"), ("w8", "w8", "w3"), ("w5", "w6", "w5")])
def test_analogies_are_gensims(words: tuple[str, str, str]) -> None:
    a, b, c = words
    same(drawn().analogy(a, b, c, 57), to_keyed_vectors(drawn()).most_similar(positive=[b, c], negative=[a], topn=57))


def test_an_analogy_that_keeps_its_own_words_is_the_nearest_of_a_point() -> None:
    kv = to_keyed_vectors(drawn())
    one = {word: kv.get_vector(word, norm=True) for word in kv.index_to_key}
    kept = drawn().analogy("w0", "w1", "w2", 60, keep=True)
    same(kept, kv.similar_by_vector(one["w1"] - one["w0"] + one["w2"], topn=60))
    assert {"w1", "w2"} & {word for word, _ in kept[:3]}
    assert [pair for pair in kept if pair.word not in ("w0", "w1", "w2")] == drawn().analogy("w0", "w1", "w2", 60)


def test_of_equals_the_earlier_comes_first() -> None:
    rows = torch.zeros(40, 2)
    rows[::3, 0] = 1
    rows[1::3, 1] = 1
    vectors = WordVectors(tuple(f"w{i}" for i in range(40)), rows)
    assert [word for word, _ in vectors.near(torch.tensor([1., 0.]), 20)] \
        == [f"w{i}" for i in range(0, 40, 3)] + ["w1", "w2", "w4", "w5", "w7", "w8"]


def test_a_vector_of_zeros_is_near_nothing() -> None:
    assert WHOLE.similarity("a", "d") == WHOLE.similarity("d", "d") == 0
    assert WHOLE.neighbours("d") == [("a", 0), ("b", 0), ("c", 0)]
    assert WHOLE.neighbours("a") == [("b", pytest.approx(1)), ("c", pytest.approx(0, abs=1e-6)), ("d", 0)]
    assert WHOLE.neighbours("a", dot=True)[0] == ("b", 50)


def test_there_are_never_more_neighbours_than_words() -> None:
    assert len(WHOLE.neighbours("a", 100)) == 3
    assert len(WHOLE.near(WHOLE["a"], 100, without=["a", "a", "not there"])) == 3
    assert WHOLE.neighbours("a", 0) == []
    alone = WordVectors(("a",), torch.ones(1, 2))
    assert alone.neighbours("a") == alone.analogy("a", "a", "a") == []
    assert alone.analogy("a", "a", "a", keep=True) == [("a", pytest.approx(1))]
    with pytest.raises(ValueError, match="count=-1 was given"):
        WHOLE.neighbours("a", -1)


def test_a_question_changes_no_vector() -> None:
    vectors = drawn()
    before = vectors.matrix.clone(), vectors.unit.clone()
    vectors.neighbours("w1", dot=True)
    vectors.analogy("w1", "w2", "w3")
    assert torch.equal(vectors.matrix, before[0]) and torch.equal(vectors.unit, before[1])


def test_vectors_in_training_can_be_asked_too() -> None:
    vectors = WordVectors(("a", "b"), torch.nn.Parameter(torch.eye(2)))
    assert vectors.neighbours("a") == vectors.neighbours("a", dot=True) == [("b", 0)]


@pytest.mark.parametrize("ask", [
    lambda vectors: vectors["w6o"], lambda vectors: vectors.neighbours("w6o"), lambda vectors: vectors.only(["w6o"]),
    lambda vectors: vectors.similarity("w1", "w6o"), lambda vectors: vectors.analogy("w1", "w2", "w6o"),
])
def test_an_unknown_word_is_told_with_some_like_it(ask) -> None:
    with pytest.raises(ValueError, match="'w6o' has no vector: it is not among the 60 words; similar words: w6"):
        ask(drawn())
    with pytest.raises(ValueError, match=r"among the 4 words$"):
        WHOLE["zebra"]


def test_it_holds_words_in_order() -> None:
    assert [*WHOLE] == ["a", "b", "c", "d"] and "a" in WHOLE and "zebra" not in WHOLE and len(WHOLE) == 4
    assert repr(WHOLE) == "WordVectors(4 words, 2 dimensions)"
    assert WHOLE == WHOLE and drawn() != WHOLE


def test_some_words_in_another_order() -> None:
    some = WHOLE.only(["c", "a"])
    assert some.words == ("c", "a") and some.matrix.tolist() == [[-4, 3], [3, 4]]
    assert WHOLE.only([]).matrix.shape == (0, 2)


def test_a_word_has_one_vector() -> None:
    with pytest.raises(ValueError, match="2 words and 3 vectors"):
        WordVectors(("a", "b"), torch.ones(3, 2))
    with pytest.raises(ValueError, match="'a' occurs twice"):
        WordVectors(("a", "b", "a"), torch.ones(3, 2))
