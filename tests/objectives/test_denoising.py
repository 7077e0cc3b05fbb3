"""BART's noises: figure 2, the distribution of each against brute force, their combination, and the targets."""

from collections import Counter
from functools import partial
from itertools import pairwise, permutations
from math import exp, factorial
from random import Random

import pytest

from plmlab.objectives import denoising
from plmlab.objectives.denoising import (
    document_rotation,
    restoration,
    sentence_permutation,
    text_infilling,
    token_deletion,
    token_masking,
)
from plmlab.text.text import Text
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)
M, START, END = (VOCAB.need(name) for name in ("mask", "start", "end"))
LETTERS = {letter: 40 + i for i, letter in enumerate("ABCDE.")} | {"_": M}
NAMES = {id: letter for letter, id in LETTERS.items()}
RNG = Random(0)


def ids(letters: str) -> Text:
    """One token per letter; a sentence ends at its full stop."""
    stops = [0, *(i + 1 for i, letter in enumerate(letters) if letter == ".")]
    return Text([LETTERS[letter] for letter in letters], sentences=pairwise(stops))


DOCUMENT = ids("ABC.DE.")


def shown(tokens) -> str:
    return "".join(NAMES[token] for token in tokens)


@pytest.mark.parametrize(("noise", "expected"), [
    (partial(token_masking, select=[1, 4]), "A_C._E."),
    (partial(token_deletion, select=[1, 4]), "AC.E."),
    (partial(text_infilling, spans=[(1, 3), (5, 5)]), "A_.D_E."),
    (partial(sentence_permutation, order=[1, 0]), "DE.ABC."),
    (partial(document_rotation, first=2), "C.DE.AB"),
])
def test_figure_2(noise, expected: str) -> None:
    """Each noise turns ABC.DE. into the text of the figure; the target is the whole document. For deletion the figure
    has A.C.E., which no deletion gives; without B and D, AC.E. remains."""
    assert shown(noise(DOCUMENT, VOCAB, RNG)) == expected
    example = denoising(DOCUMENT, vocab=VOCAB, rng=RNG, noises=[noise])
    assert example.source.tokens.tolist() == [START, *ids(expected), END]
    assert example.target.tokens.tolist() == [END, START, *DOCUMENT]
    assert example.target.targets.tolist() == [START, *DOCUMENT, END]
    assert example.target.position_ids.tolist() == [list(range(9))]


def test_noises_are_combined_in_the_given_order() -> None:
    permuted, infilled = partial(sentence_permutation, order=[1, 0]), partial(text_infilling, spans=[(0, 2)])
    one = denoising(DOCUMENT, vocab=VOCAB, rng=RNG, noises=[permuted, infilled])
    assert shown(one.source.tokens.tolist()[1:-1]) == "_.ABC."
    with pytest.raises(ValueError, match="sentence permutation needs the sentences"):
        denoising(DOCUMENT, vocab=VOCAB, rng=RNG, noises=[infilled, permuted])
    assert denoising(DOCUMENT, vocab=VOCAB, rng=RNG, noises=[]).source.tokens.tolist() == [START, *DOCUMENT, END]


def poisson(length: int) -> float:
    return exp(-3) * 3 ** length / factorial(length)


def test_span_lengths_are_poisson_and_may_be_zero() -> None:
    """A first span that is not shortened, in a long text: its length is what the [MASK] replaced. Zero-length spans add
    a [MASK] and remove nothing."""
    text, lengths = list(range(50, 90)), Counter()
    for seed in range(4000):
        lost = len(text) + 1 - len(text_infilling(text, VOCAB, Random(seed), rate=1 / 40))
        lengths[lost] += 1
    # a budget of one token: zeros until a span of at least 1, which is cut to 1
    zeros = poisson(0)
    for count in range(3):
        expected = (1 - zeros) * zeros ** count
        assert abs(lengths[1 - count] / 4000 - expected) < 0.015
    spans = Counter(text_infilling(text, VOCAB, Random(seed), rate=0.75).count(M) for seed in range(500))
    assert 9 < sum(count * number for count, number in spans.items()) / 500 < 12.5  # 30 tokens in spans of 3


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 1.0])
def test_the_budget_is_met_exactly_and_nothing_else_is_lost(rate: float) -> None:
    text = list(range(50, 67))
    for seed in range(50):
        for noise in (token_masking, token_deletion, text_infilling):
            left = [token for token in noise(text, VOCAB, Random(seed), rate=rate) if token != M]
            assert len(left) == len(text) - -(-rate * len(text) // 1)
            assert left == sorted(left)
        assert len(token_masking(text, VOCAB, Random(seed), rate=rate)) == len(text)


def test_spans_and_kept_tokens_come_in_any_order() -> None:
    """Two tokens, one of them to be infilled by a span of 1: [MASK] can stand at either place, equally often."""
    found = Counter()
    for seed in range(3000):
        made = tuple(text_infilling([50, 51], VOCAB, Random(seed), rate=0.5))
        found[made] += made.count(M) == 1
    assert found.keys() >= {(50, M), (M, 51)}
    assert abs(found[50, M] - found[M, 51]) < 200 and found[50, M] + found[M, 51] > 2700


def test_all_orders_of_the_sentences_are_equally_likely() -> None:
    text = ids("A.BC.D.")
    sentences = ("A.", "BC.", "D.")
    found = Counter(shown(sentence_permutation(text, VOCAB, Random(seed))) for seed in range(1200))
    assert found.keys() == {"".join(order) for order in permutations(sentences)}
    assert all(150 < count < 250 for count in found.values())


def test_tokens_outside_of_sentences_are_not_lost() -> None:
    text = Text(ids("ABC.DE."), sentences=[(1, 3), (4, 6)])
    assert shown(sentence_permutation(text, VOCAB, RNG, order=[1, 0])) == "DE.ABC."
    assert shown(sentence_permutation(Text(ids("AB"), sentences=[]), VOCAB, RNG)) == "AB"


def test_every_token_can_come_first() -> None:
    found = Counter(shown(document_rotation(DOCUMENT, VOCAB, Random(seed))) for seed in range(1400))
    assert found.keys() == {shown(DOCUMENT[i:]) + shown(DOCUMENT[:i]) for i in range(7)}
    assert all(150 < count < 250 for count in found.values())


def test_the_default_is_the_paper_s_final_choice() -> None:
    """All sentences are permuted, and then 30 % of the tokens infilled: the same as the two noises by hand."""
    for seed in range(20):
        expected, rng = DOCUMENT, Random(seed)
        rng.random()  # whether this text is permuted
        expected = text_infilling(sentence_permutation(DOCUMENT, VOCAB, rng), VOCAB, rng, rate=0.3)
        assert denoising(DOCUMENT, vocab=VOCAB, rng=Random(seed)).source.tokens.tolist()[1:-1] == expected


def test_proportions_choose_the_noises() -> None:
    none = {"permutation": 0.0, "infilling": 0.0}

    def source(seed: int, **choices: float) -> str:
        made = denoising(DOCUMENT, vocab=VOCAB, rng=Random(seed), **none | choices)
        return shown(made.source.tokens.tolist()[1:-1])
    assert source(0) == "ABC.DE."
    assert source(0, masking=0.3).count("_") == 3 and len(source(0, deletion=0.3)) == 4
    assert source(0, deletion=1.0, rotation=1.0, masking=0.5) == ""
    assert {source(seed, permutation=0.5) for seed in range(20)} == {"ABC.DE.", "DE.ABC."}
    turned = [source(seed, rotation=0.5) for seed in range(400)]
    assert abs(turned.count("ABC.DE.") / 400 - (0.5 + 0.5 / 7)) < 0.08


def test_sentences_are_needed_only_to_permute_them() -> None:
    plain = list(DOCUMENT)
    with pytest.raises(ValueError, match="sentence permutation needs the sentences of a text"):
        denoising(plain, vocab=VOCAB, rng=Random(0))
    assert denoising(plain, vocab=VOCAB, rng=Random(0), permutation=0.0).target.targets.tolist()[1:-1] == plain


def test_the_plain_pair() -> None:
    example = restoration([41], [42, 43], VOCAB)
    assert example.source.tokens.tolist() == [START, 41, END]
    assert example.target.tokens.tolist() == [END, START, 42, 43]
    assert example.target.targets.tolist() == [START, 42, 43, END]
    assert example.cross.dense().all()


@pytest.mark.parametrize(("noise", "message"), [
    (partial(text_infilling, spans=[(3, 2)]), "not overlapping"),
    (partial(text_infilling, spans=[(0, 9)]), "in a text of 7 tokens"),
    (partial(sentence_permutation, order=[0, 0]), r"each of the sentences \[0, 1\]"),
    (partial(token_masking, rate=0), "rate=0"), (partial(text_infilling, rate=2), "rate=2"),
])
def test_what_is_refused(noise, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        noise(DOCUMENT, VOCAB, RNG)


@pytest.mark.parametrize("choices", [{"infilling": 1.5}, {"masking": -0.1}, {"rotation": 2}])
def test_proportions_are_proportions(choices: dict) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(choices))}=.*from 0 to 1"):
        denoising(DOCUMENT, vocab=VOCAB, rng=RNG, **choices)
    with pytest.raises(ValueError, match="the text is empty"):
        denoising([], vocab=VOCAB, rng=RNG)
