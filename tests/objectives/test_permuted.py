"""XLNet's and MPNet's objectives: the papers' figures, the authors' masks worked by hand, and what each position
sees."""

from collections import Counter
from itertools import permutations
from random import Random

import pytest
import torch

from plmlab.example import IGNORE, Batch, Example
from plmlab.objectives import always_mask, causal, masked, masked_and_permuted, permuted, permuted_targets
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility

VOCAB = Vocabulary(1000)
PAD, UNK, CLS, SEP, MASK, START, END = range(7)
TEXT = [101, 102, 103, 104]
LONG = list(range(100, 140))


def rows(visible: Visibility | None) -> list[str]:
    assert visible is not None
    return ["".join(map(str, row)) for row in visible.dense().int().tolist()]


def sees(example: Example, position: int) -> set[int]:
    """The positions that a position's query stream sees."""
    assert example.query_stream_mask is not None
    return set(example.query_stream_mask.dense()[position].nonzero().flatten().tolist())


@pytest.mark.parametrize(("order", "seen"), [
    ("3241", ""), ("2431", "24"), ("1423", "142"), ("4312", "4"),
])
def test_what_the_third_word_sees_in_four_orders(order: str, seen: str) -> None:
    """Yang et al. 2019, fig. 4: predicting x3 in the orders 3→2→4→1, 2→4→3→1, 1→4→2→3 and 4→3→1→2."""
    example = permuted(TEXT, vocab=VOCAB, rng=Random(0), order=[*(int(x) - 1 for x in order), 4, 5], predict=range(4))
    assert sees(example, 2) == {int(x) - 1 for x in seen}
    assert example.targets.tolist() == [*TEXT, IGNORE, IGNORE]


def test_both_streams_masks_in_the_order_3241() -> None:
    """Fig. 1 (c): the content stream sees itself too, the query stream does not; [SEP] and [CLS] come last here."""
    example = permuted(TEXT, vocab=VOCAB, rng=Random(0), order=[2, 1, 3, 0, 4, 5], predict=range(4))
    assert example.tokens.tolist() == [*TEXT, SEP, CLS]
    assert example.position_ids.tolist() == [[0, 1, 2, 3, 4, 5]], "the sentence itself is not shuffled"
    assert rows(example.visible) == ["111100", "011000", "001000", "011100", "111110", "111111"]
    assert rows(example.query_stream_mask) == ["011100", "001000", "000000", "011000", "111100", "111110"]


def test_as_it_was_trained_the_context_has_no_order() -> None:
    """By hand: x2 and x4 are predicted, x4 first; [SEP] stands between them, [CLS] before all."""
    example = permuted_targets(TEXT, vocab=VOCAB, rng=Random(0), order=[5, 0, 2, 3, 4, 1], predict=[1, 3])
    assert rows(example.visible) == ["101000", "111111", "101000", "101101", "101111", "101001"]
    assert rows(example.query_stream_mask)[1] == "101111" and rows(example.query_stream_mask)[3] == "101001"
    assert example.targets.tolist() == [IGNORE, 102, IGNORE, 104, IGNORE, IGNORE]


@pytest.mark.parametrize("seed", range(20))
def test_as_it_was_trained_is_the_rule_of_the_authors_code(seed: int) -> None:
    """A position sees the context, and of the rest what has a lower index in the permutation; [SEP] and [CLS] see
    themselves too, and the content stream of every position sees itself."""
    length, pair = 3 + seed, seed % 3 * 2
    example = permuted_targets(LONG[:length], pair=LONG[:pair], vocab=VOCAB, rng=Random(seed), k=2.0,
                               order=(order := sorted(range(length + pair + 2 + (pair > 0)),
                                                      key=lambda position: (position * 7 + seed) % 23)))
    index = {position: place for place, position in enumerate(order)}
    special = {position for position, token in enumerate(example.tokens.tolist()) if token in (SEP, CLS)}
    asked = set((example.targets != IGNORE).nonzero().flatten().tolist())
    for i in order:
        for j in order:
            context = j not in special | asked
            behind = i not in special | asked
            blocked = not context and (behind or index[j] > index[i] or (i == j and i in asked))
            assert example.visible.dense()[i, j] == (not blocked or i == j), (i, j)
            if i in asked:
                assert example.query_stream_mask.dense()[i, j] == (not blocked), (i, j)


def test_a_pair_and_its_three_segments() -> None:
    example = permuted([101], pair=[102, 103], vocab=VOCAB, rng=Random(0))
    assert example.tokens.tolist() == [101, SEP, 102, 103, SEP, CLS]
    assert example.segments.tolist() == [0, 0, 1, 1, 1, 2]


def test_left_to_right_is_a_causal_model_and_the_last_alone_a_masked_one() -> None:
    """In the order of the text a word sees what causal shows of it; a single word asked sees what masked shows."""
    order = list(range(len(TEXT) + 2))
    example = permuted(TEXT, vocab=VOCAB, rng=Random(0), order=order, predict=range(4))
    assert torch.equal(example.visible.dense(), causal(TEXT[:-1], vocab=VOCAB, rng=Random(0)).visible.dense().new_ones(
        6, 6).tril())
    for position, token in enumerate(TEXT):
        read = causal(TEXT, vocab=VOCAB, rng=Random(0))
        assert read.targets[position] == token
        known = read.tokens[read.visible.dense()[position]].tolist()
        assert [START, *(example.tokens[sorted(sees(example, position))].tolist())] == known
    single = permuted_targets(TEXT, vocab=VOCAB, rng=Random(0), order=[4, 5, 0, 1, 2, 3], predict=[2])
    other = masked(TEXT, vocab=VOCAB, rng=Random(0), select=[3], corrupt=always_mask)
    whole = set(other.tokens[other.visible.dense()[3]].tolist()) - {MASK}
    assert set(single.tokens[sorted(sees(single, 2))].tolist()) == whole == {CLS, SEP, 101, 102, 104}


@pytest.mark.parametrize(("make", "sep"), [(permuted, 1 - 1.5 / 13), (permuted_targets, 0.5)])
def test_what_is_drawn(make, sep: float) -> None:
    """One word in six; every word as often; predicted words see all the context. Where the whole text is in order,
    [SEP] comes behind the last of 12 words one time in 13, and as often between the two that are predicted; where the
    targets alone are, it comes before one half of the time."""
    times, special = Counter[int](), Counter[bool]()
    for seed in range(600):
        example = make(LONG[:12], vocab=VOCAB, rng=Random(seed))
        asked = (example.targets != IGNORE).nonzero().flatten().tolist()
        assert len(asked) == 2 and max(asked) < 12
        times.update(asked)
        context, seen = set(range(12)) - set(asked), {position: sees(example, position) for position in asked}
        for position in asked:
            assert context <= seen[position] and position not in seen[position]
            special[12 in seen[position]] += 1
        one, other = asked
        assert (one in seen[other]) != (other in seen[one]), "one comes first"
    assert min(times.values()) > 50, "the middle as often as nearly the ends"
    assert special[True] / 1200 == pytest.approx(sep, abs=0.05)


def test_spans_are_as_long_as_in_the_authors_code() -> None:
    """With room for one span of n words, n is drawn with a weight of 1/n, up to what is still to be chosen."""
    lengths = Counter[int]()
    for seed in range(800):
        example = permuted_targets(LONG[:12], vocab=VOCAB, rng=Random(seed))
        one, other = (example.targets != IGNORE).nonzero().flatten().tolist()
        lengths[other - one == 1] += 1
    apart = 1 / 1.5 * (1 - 2 / 12)
    assert lengths[False] / 800 == pytest.approx(apart, abs=0.06)
    for seed in range(50):
        asked = (permuted(LONG, vocab=VOCAB, rng=Random(seed), k=4.0, longest=1.0).targets != IGNORE).sum()
        assert asked == 10


def test_every_order_is_as_likely() -> None:
    orders = Counter(tuple(permuted(TEXT[:3], vocab=VOCAB, rng=Random(seed), k=1.0).query_stream_mask.dense()[:3,
                                                                                                              :3].sum(1)
                           .tolist()) for seed in range(900))
    assert set(orders) == set(permutations(range(3))) and min(orders.values()) > 105


@pytest.mark.parametrize(("given", "said"), [
    ({"order": [0, 1, 2]}, "give each of the 6 positions of this text once, including its 2 special tokens"),
    ({"order": [0, 0, 1, 2, 3, 4]}, "each of the 6 positions"),
    ({"predict": [0, 4]}, r"contains \[4\], not positions of words; the words of this text are at 0, 1, 2, 3"),
    ({"k": 0.5}, "k=0.5, longest=5: both must be at least 1"),
    ({"longest": 0.0}, "at least 1"),
])
def test_what_is_refused(given: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        permuted(TEXT, vocab=VOCAB, rng=Random(0), **given)


@pytest.mark.parametrize("make", [permuted, permuted_targets])
def test_short_texts(make) -> None:
    assert (make([], vocab=VOCAB, rng=Random(0)).targets == IGNORE).all()
    assert make([101], vocab=VOCAB, rng=Random(0)).targets.tolist() == [101, IGNORE, IGNORE]
    batch = Batch.of([make(LONG[:n], vocab=VOCAB, rng=Random(n)) for n in (1, 5)], pad=PAD)
    assert batch.query_stream_mask.dense(7, 7)[0, 0, :, 3:].any() == False  # noqa: E712


def test_the_figure_of_mpnet() -> None:
    """Song et al. 2020, fig. 2: x1 … x6 in the order 1, 3, 5, 4, 6, 2, the last three predicted. The rows are put as
    there: x1 x3 x5 | x4 x6 x2 | M M M (and [CLS], [SEP] left out); the masks are the authors' code's for 6 and 3."""
    example = masked_and_permuted(list(range(11, 17)), vocab=VOCAB, rng=Random(0), predict=[4, 6, 2],
                                  corrupt=always_mask)
    assert example.tokens.tolist() == [CLS, 11, 12, 13, 14, 15, 16, SEP, MASK, MASK, MASK]
    assert example.position_ids.tolist() == [[0, 1, 2, 3, 4, 5, 6, 7, 4, 6, 2]]
    assert example.targets.tolist() == [IGNORE] * 8 + [14, 16, 12]
    put = [1, 3, 5, 4, 6, 2, 8, 9, 10]
    assert ["".join(map(str, row)) for row in example.visible.dense()[put][:, put].int().tolist()] == [
        "111000111", "111000111", "111000111", "111100011", "111110001", "111111000", "111000111", "111000111",
        "111000111"]
    assert ["".join(map(str, row)) for row in example.query_stream_mask.dense()[8:][:, put].int().tolist()] == [
        "111000111", "111100011", "111110001"]


def test_each_position_is_seen_once_as_a_word_or_as_its_mask() -> None:
    example = masked_and_permuted(LONG[:20], vocab=VOCAB, rng=Random(3), rate=0.4)
    place, asked = example.position_ids[0], example.targets != IGNORE
    for looks in (example.visible.dense(), example.query_stream_mask.dense()[asked]):
        for row in looks:
            assert sorted(place[row].tolist()) == list(range(22))


@pytest.mark.parametrize("words", [98, 398])
def test_what_each_method_sees_of_words_and_positions(words: int) -> None:
    """Song et al. 2020, table 1: 85 and 100 % with masks, 92.5 and 92.5 % with an order, 92.5 and 100 % with both. Of
    n positions p are predicted; before the t-th, t − 1 of them have been said, (p − 1)/2 in the mean: the paper's 92.5
    is the limit of many."""
    tokens, positions = list(range(100, 100 + words)), words + 2
    count = round(0.15 * positions)
    chosen = Random(1).sample(range(1, words + 1), count)
    known = (positions - count) / positions + (count - 1) / 2 / positions

    def share(example: Example, looks: torch.Tensor, of: str) -> float:
        asked = (example.targets != IGNORE).nonzero().flatten()
        masks = example.tokens == MASK
        seen = [len(set(example.position_ids[0][row & ~masks if of == "words" else row].tolist()))
                for row in looks[asked]]
        return sum(seen) / len(seen) / positions

    bert = masked(tokens, vocab=VOCAB, rng=Random(0), select=chosen, corrupt=always_mask)
    both = masked_and_permuted(tokens, vocab=VOCAB, rng=Random(0), predict=chosen, corrupt=always_mask)
    last = [position - 1 for position in chosen]
    rest = [position for position in range(positions) if position not in last]
    order = permuted_targets(tokens, vocab=VOCAB, rng=Random(0), order=[*sorted(rest, reverse=True), *last],
                             predict=last)
    assert share(bert, bert.visible.dense(), "words") == pytest.approx(1 - count / positions)
    assert share(bert, bert.visible.dense(), "position_ids") == 1
    assert share(order, order.query_stream_mask.dense(), "words") == pytest.approx(known)
    assert share(order, order.query_stream_mask.dense(), "position_ids") == pytest.approx(known)
    assert share(both, both.query_stream_mask.dense(), "words") == pytest.approx(known)
    assert share(both, both.query_stream_mask.dense(), "position_ids") == 1
    assert known == pytest.approx(0.925, abs=0.5 / positions + 0.003)


def test_rates_of_mpnet() -> None:
    """As in BERT: eight masks in ten are [MASK], one another word, one the word itself; 15 % of all positions."""
    shown = Counter[str]()
    for seed in range(200):
        example = masked_and_permuted(LONG[:38], vocab=VOCAB, rng=Random(seed))
        masks = example.tokens[40:].tolist()
        assert len(masks) == 6
        shown.update("mask" if token == MASK else "kept" if token == target else "other"
                     for token, target in zip(masks, example.targets[40:].tolist(), strict=True))
    assert {name: round(count / 1200, 1) for name, count in shown.items()} == {"mask": 0.8, "other": 0.1, "kept": 0.1}


@pytest.mark.parametrize(("given", "said"), [
    ({"rate": 0.0}, "above 0"), ({"predict": [0]}, "positions of words, 1 to 4"), ({"predict": [1, 1]}, "each once"),
])
def test_what_mpnet_refuses(given: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        masked_and_permuted(TEXT, vocab=VOCAB, rng=Random(0), **given)


def test_reasons_in_words() -> None:
    words = ["the", "cat", "sat", "down", "[SEP]", "[CLS]"]
    example = permuted(TEXT, vocab=VOCAB, rng=Random(0), order=[2, 1, 3, 0, 4, 5], predict=range(4))
    assert example.visible.reason(1, 2, words) == "cat can attend to sat: sat comes before cat in the order, or is " \
                                                  "cat itself."
    assert "would leak this target" in example.query_stream_mask.reason(1, 1, words)
    trained = permuted_targets(TEXT, vocab=VOCAB, rng=Random(0), order=[4, 5, 0, 1, 2, 3], predict=[2])
    assert trained.visible.reason(0, 1, words).endswith("cat is context: not predicted, and visible to every position.")
    both = masked_and_permuted([11, 12], vocab=VOCAB, rng=Random(0), predict=[2, 1])
    assert "not known yet" in both.query_stream_mask.reason(4, 1, ["[CLS]", "a", "b", "[SEP]", "M(b)", "M(a)"])
