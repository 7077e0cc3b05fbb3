"""What vectors are worth, by loops over questions and words, beside gensim's answers."""

from math import isnan

import pytest
import torch
from gensim.models import KeyedVectors

from plmlab import world
from plmlab.chapters.ch02.judging import (
    NEAREST,
    answers,
    answers_spread,
    by_cosine_and_dot_product,
    by_score,
    chance,
    known,
    mean_lengths,
    mean_offset_accuracy,
    same_category_rate,
)
from plmlab.vectors import WordVectors
from plmlab.world.datasets.analogies import Question
from plmlab.world.datasets.word_kinds import word_kinds


def drawn(words: int = 25, size: int = 4, seed: int = 0) -> WordVectors:
    rng = torch.Generator().manual_seed(seed)
    lengths = torch.rand(words, 1, generator=rng) * 3 + 0.2
    return WordVectors(tuple(f"w{i}" for i in range(words)), torch.randn(words, size, generator=rng) * lengths)


def drawn_questions(count: int = 60, words: int = 25, seed: int = 1) -> list[Question]:
    rng = torch.Generator().manual_seed(seed)
    return [Question(*(f"w{i}" for i in torch.randperm(words, generator=rng)[:4].tolist())) for _ in range(count)]


def by_gensim(vectors: WordVectors, question: Question, plus: tuple[str, ...], minus: tuple[str, ...],
              without: tuple[str, ...]) -> str:
    """The word nearest to a sum of words at length 1, the ``without`` left out."""
    kv = KeyedVectors(vectors.matrix.shape[1])
    kv.add_vectors(list(vectors.words), vectors.matrix.numpy())
    point = sum(kv.get_vector(word, norm=True) for word in plus) - sum(kv.get_vector(word, norm=True) for word in minus)
    return next(word for word, _ in kv.similar_by_vector(point, topn=len(vectors)) if word not in without)


@pytest.mark.parametrize("seed", [0, 1])
def test_every_way_of_answering_by_gensim(seed: int) -> None:
    """Right answers are put where some way finds them, so that no share is 0."""
    vectors, asked = drawn(seed=seed), []
    for i, (a, b, c, d) in enumerate(drawn_questions()):
        way = (("b", "c"), ("c",), ("b",), ())[i % 4]
        plus = tuple({"b": b, "c": c}[name] for name in way)
        asked.append(Question(a, b, c, by_gensim(vectors, Question(a, b, c, d), plus, (), (a, b, c)) if plus else d))
    told = answers(vectors, asked)
    ways = {"b − a + c": ("bc", "a", True, "d"), "c alone": ("c", "", True, "d"), "b alone": ("b", "", True, "d"),
            "b + c": ("bc", "", True, "d"), "left in": ("bc", "a", False, "d"), "it is b": ("bc", "a", False, "b"),
            "it is c": ("bc", "a", False, "c")}
    assert told.keys() == ways.keys()
    for name, (plus, minus, without, wanted) in ways.items():
        right = [by_gensim(vectors, one, tuple(getattr(one, p) for p in plus), tuple(getattr(one, m) for m in minus),
                           one[:3] if without else ()) == getattr(one, wanted) for one in asked]
        assert told[name] == pytest.approx(sum(right) / len(right)), name
    assert all(told[name] > 0 for name in ways if name != "left in")


def test_a_plane_worked_by_hand() -> None:
    """b − a + c is d; c alone is nearest to b, which is left out, then d."""
    square = WordVectors(("king", "queen", "man", "woman", "pear"),
                         torch.tensor([[1.0, 1, 0], [1, 0, 1], [0, 1, 0], [0, 0, 1], [-1, -1, -1]]))
    told = answers(square, [Question("man", "woman", "king", "queen")])
    assert told["b − a + c"] == told["left in"] == 1 and told["it is b"] == told["it is c"] == 0
    assert told["b alone"] == 1


def test_what_is_not_known_is_not_asked() -> None:
    vectors = drawn(5)
    asked = [Question("w0", "w1", "w2", "w3"), Question("w0", "w1", "w2", "w9"), Question("z", "w1", "w2", "w3")]
    assert known(vectors, asked) == asked[:1]
    assert all(isnan(share) for share in answers(vectors, []).values())


def test_the_spread_of_several_seeds() -> None:
    runs = {0: {"plural": {"b + c": 0.5, "left in": 0.0}}, 7: {"plural": {"b + c": 0.7, "left in": 0.1}}}
    told = answers_spread(runs)["plural"]
    assert told["b + c"]["mean"] == pytest.approx(0.6) and told["b + c"]["seeds"] == [0, 7]
    assert told["left in"]["values"] == [0.0, 0.1]
    nothing = {"b + c": float("nan"), "left in": float("nan")}
    runs[0]["capital"], runs[7]["capital"] = {"b + c": 1.0, "left in": 1.0}, nothing
    assert list(answers_spread(runs)) == ["plural"], "a relation that one seed knows nothing of is left out"


def test_kin_among_the_nearest_by_a_loop() -> None:
    vectors = drawn(40)
    names = ("town", "animal sg", "animal pl", "craft sg")
    kinds = {f"w{i}": frozenset({names[i % 3]} | ({names[3]} if i % 7 == 0 else set())) for i in range(0, 48, 2)}
    words = [word for word in kinds if word in vectors]
    kin = among = pairs = 0
    for word in words:
        near = [other for other, _ in vectors.only(words).neighbours(word, NEAREST)]
        kin += sum(bool(kinds[word] & kinds[other]) for other in near)
        among += len(near)
        pairs += sum(bool(kinds[word] & kinds[other]) for other in words if other != word)
    found, by_chance = same_category_rate(vectors, kinds)
    assert len(words) == 20 and among == 200
    assert found == pytest.approx(kin / among) and by_chance == pytest.approx(pairs / (20 * 19))


def test_kin_that_lie_together_are_found_and_those_of_random_vectors_by_chance() -> None:
    kinds = {f"w{i}": frozenset({f"kind {i % 3}"}) for i in range(60)}
    apart = WordVectors(tuple(kinds), torch.eye(3)[torch.arange(60) % 3] + 0.01 * drawn(60, 3).matrix)
    found, by_chance = same_category_rate(apart, kinds)
    assert found == 1 and by_chance == pytest.approx(19 / 59)
    shares = [same_category_rate(drawn(60, 20, seed), kinds)[0] for seed in range(10)]
    assert sum(shares) / 10 == pytest.approx(by_chance, abs=0.05)


def test_a_smaller_vocabulary_has_fewer_neighbours() -> None:
    """Of fewer words than are asked for, all others are neighbours."""
    kinds = {f"w{i}": frozenset({"a" if i < 2 else "b"}) for i in range(5)}
    found, by_chance = same_category_rate(drawn(5), kinds)
    assert found == pytest.approx(by_chance) == pytest.approx((2 * 1 + 3 * 2) / 20)


def test_the_chance_of_a_guess_by_a_loop() -> None:
    asked = [Question("Rome", "Italy", "Oslo", "Norway"), Question("Oslo", "Norway", "Bern", "Switzerland"),
             Question("Bern", "Switzerland", "Rome", "Italy"), Question("Nice", "France", "Rome", "Italy")]
    others = [len({question.d for question in asked} - {question.b}) for question in asked]
    assert others == [2, 2, 2, 3] and chance(asked) == pytest.approx((1 / 2 + 1 / 2 + 1 / 2 + 1 / 3) / 4)


def test_other_ways_by_hand() -> None:
    """Two towns and their countries on a plane: the step to the country is one up; scores are dot products."""
    vectors = WordVectors(("rome", "italy", "oslo", "norway", "bern", "swiss"), torch.tensor(
        [[1.0, 0, 0, 0], [1, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1]]))
    asked = [Question("rome", "italy", "oslo", "norway"), Question("oslo", "norway", "bern", "swiss")]
    assert mean_offset_accuracy(vectors, asked) == 1
    flat = WordVectors(vectors.words, vectors.matrix[:, :3])
    assert by_score(flat, flat, asked, among=["italy", "norway", "swiss"]) == 1
    assert by_score(flat, flat, asked, among=["italy", "swiss"]) == 0.5


def test_cosine_and_dot_product_by_brute_force() -> None:
    """The ten nearest of 40 words of known categories, by sorting; half of them occur in the text."""
    kinds = word_kinds(world.full())
    words = tuple(sorted(kinds))[::len(kinds) // 40][:40]
    vectors = WordVectors(words, torch.randn(40, 3, generator=torch.Generator().manual_seed(0)))
    counts = {word: 10 * i for i, word in enumerate(words[::2])}
    found, shared = by_cosine_and_dot_product(vectors, counts)
    lists = {}
    for measure, rows in {"cosine": vectors.unit, "dot product": vectors.matrix}.items():
        pairs = [(word, words[j]) for i, word in enumerate(words)
                 for j in sorted({*range(40)} - {i}, key=lambda j: -float(rows[i] @ rows[j]))[:10]]
        same = sum(bool(kinds[word] & kinds[other]) for word, other in pairs) / 400
        middle = sorted(counts.get(other, 0) for _, other in pairs)[199]
        assert found[measure] == pytest.approx((same, middle))
        lists[measure] = {*pairs}
    assert shared == pytest.approx(len(lists["cosine"] & lists["dot product"]) / 400)
    norms = [float(row.norm()) for row in vectors.matrix]
    assert mean_lengths(vectors, words, ((0, 1), (1, 3))) == pytest.approx([norms[0], (norms[1] + norms[2]) / 2])
