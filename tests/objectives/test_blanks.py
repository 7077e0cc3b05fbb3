"""GLM's blanks: the paper's figure, what the authors' code gives for the same spans, and the law of what is drawn."""

from collections import Counter
from itertools import permutations
from math import e
from random import Random

import pytest
import torch
from scipy import stats

from plmlab.example import IGNORE, Example
from plmlab.objectives import OBJECTIVES, always_mask, masked
from plmlab.objectives.blanks import (
    append_blank,
    blank_infilling,
    blanks_of_pair,
    document_infilling,
    independent_blanks,
    sentence_infilling,
)
from plmlab.objectives.prefix import source_and_target
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(3000)
PAD, UNK, CLS, SEP, MASK, START, END = range(7)
TEXT = [101, 102, 103, 104, 105, 106]
LONG = list(range(100, 2100))
NO = IGNORE


class OnlyRandom(Random):
    """A stream of random numbers that gives no bits, and so can't shuffle, sample or choose by itself."""

    def getrandbits(self, k: int) -> int:
        raise AssertionError("all is to be drawn through random()")


def rows(example: Example) -> list[str]:
    return ["".join(map(str, row)) for row in example.visible.dense().int().tolist()]


def filled(tokens, spans, order=None) -> Example:
    return blank_infilling(tokens, vocab=VOCAB, rng=Random(0), spans=spans, order=order)


def read_of(example: Example) -> int:
    """How many positions Part A has."""
    return int((example.position_ids[1] == 0).sum())


def blanks_of(example: Example) -> list[tuple[int, list[int]]]:
    """In the order of Part B: the place of the blank's [MASK], and what it must say, without [END]."""
    found = list[tuple[int, list[int]]]()
    tokens, targets, position_ids = (row.tolist() for row in (example.tokens, example.targets, example.position_ids))
    for position in range(read_of(example), len(tokens)):
        place, inside = position_ids[0][position], position_ids[1][position]
        if inside == 1:
            assert tokens[position] == START
            found.append((place, []))
        else:
            assert tokens[position] == targets[position - 1] != END, "what was said is read next"
            found[-1][1].append(tokens[position])
        assert place == found[-1][0] and inside == len(found[-1][1]) + 1
        last = position + 1 == len(tokens) or tokens[position + 1] == START
        assert (targets[position] == END) == last
    return found


def put_back(example: Example) -> list[int]:
    """The text, its blanks filled."""
    blanks, read = dict(blanks_of(example)), example.tokens[:read_of(example)].tolist()
    assert len(blanks) == read.count(MASK)
    return [word for place, token in enumerate(read, 1) for word in (blanks[place] if token == MASK else [token])]


def test_the_figure() -> None:
    """Du et al. 2022, fig. 2: spans [x3] and [x5, x6] of x1 … x6, the second filled first."""
    example = filled(TEXT, [(2, 3), (4, 6)], [1, 0])
    assert example.tokens.tolist() == [101, 102, MASK, 104, MASK, START, 105, 106, START, 103]
    assert example.targets.tolist() == [NO, NO, NO, NO, NO, 105, 106, END, 103, END]
    assert example.position_ids.tolist() == [[1, 2, 3, 4, 5, 5, 5, 5, 3, 3], [0, 0, 0, 0, 0, 1, 2, 3, 1, 2]]
    assert rows(example) == [*["1111100000"] * 5, "1111110000", "1111111000", "1111111100", "1111111110", "1111111111"]


@pytest.mark.parametrize(("count", "spans", "order", "tokens", "targets", "places", "inside"), [
    (6, [(1, 3), (4, 5)], [0, 1], [101, MASK, 104, MASK, 106, START, 102, 103, START, 105],
     [102, 103, END, 105, END], [1, 2, 3, 4, 5, 2, 2, 2, 4, 4], [1, 2, 3, 1, 2]),
    (6, [(1, 3), (4, 5)], [1, 0], [101, MASK, 104, MASK, 106, START, 105, START, 102, 103],
     [105, END, 102, 103, END], [1, 2, 3, 4, 5, 4, 4, 2, 2, 2], [1, 2, 1, 2, 3]),
    (8, [(0, 2), (3, 6), (7, 8)], [2, 0, 1],
     [MASK, 103, MASK, 107, MASK, START, 108, START, 101, 102, START, 104, 105, 106],
     [108, END, 101, 102, END, 104, 105, 106, END], [1, 2, 3, 4, 5, 5, 5, 1, 1, 1, 3, 3, 3, 3],
     [1, 2, 1, 2, 3, 1, 2, 3, 4]),
    (5, [(0, 2), (2, 5)], [1, 0], [MASK, MASK, START, 103, 104, 105, START, 101, 102],
     [103, 104, 105, END, 101, 102, END], [1, 2, 2, 2, 2, 2, 1, 1, 1], [1, 2, 3, 4, 1, 2, 3]),
    (3, [(0, 3)], [0], [MASK, START, 101, 102, 103], [101, 102, 103, END], [1, 1, 1, 1, 1], [1, 2, 3, 4]),
])
def test_what_the_authors_code_gives(count, spans, order, tokens, targets, places, inside) -> None:
    """Run by itself on [CLS] x1 … and the same spans and order, it gives these and a first position, [CLS] at 0."""
    example = filled(list(range(101, 101 + count)), spans, order)
    read = len(tokens) - len(targets)
    assert example.tokens.tolist() == tokens and example.targets.tolist() == [NO] * read + targets
    assert example.position_ids.tolist() == [places, [0] * read + inside]


def test_each_sees_part_a_and_what_was_filled_in_before() -> None:
    """By the definition, position for position; and the text comes back from what is shown and said."""
    for seed in range(60):
        tokens = LONG[:1 + seed]
        example = blank_infilling(tokens, vocab=VOCAB, rng=Random(seed), rate=0.1 + 0.01 * seed)
        read, looks = read_of(example), example.visible.dense().tolist()
        for query, row in enumerate(looks):
            assert row == [key < read or read <= key <= query for key in range(len(looks))]
        assert put_back(example) == tokens


def test_why_a_position_may_look() -> None:
    example = filled(TEXT, [(2, 3), (4, 6)], [1, 0])
    names = ["x1", "x2", "M", "x4", "M2", "S", "x5", "x6", "S2", "x3"]

    def why(query: str, key: str) -> str:
        return example.visible.reason(names.index(query), names.index(key), names)

    assert why("x1", "M2") == "x1 can attend to M2: M2 is in Part A, which is visible to every position."
    assert why("x6", "x5").startswith("x6 can attend to x5: x5 is generated before or at x6: a blank is")
    assert why("x3", "x6") == "x3 can attend to x6: the blank of x6 is filled before that of x3."
    assert why("x5", "x6").startswith("x5 cannot attend to x6: x6 is generated after x5")
    assert why("x6", "S2").startswith("x6 cannot attend to S2: S2 is generated after x6")
    assert why("M", "x3") == "M cannot attend to x3: M is in Part A, which is encoded before any blank is filled."


@pytest.mark.parametrize("begin", range(6))
def test_one_span_to_the_end_is_a_prefix_language_model(begin: int) -> None:
    """Under UniLM's source-to-target mask, the [MASK] being the last of the source; each position says the next
    word."""
    example = document_infilling(TEXT, vocab=VOCAB, rng=Random(0), span=(begin, 6))
    assert torch.equal(example.visible.dense(), source_and_target(begin + 1, 7 - begin).dense())
    assert example.tokens.tolist() == [*TEXT[:begin], MASK, START, *TEXT[begin:]]
    assert example.targets.tolist()[begin + 1:] == [*TEXT[begin:], END]


def test_blanks_of_one_word_are_bert_s_masks_asked_one_after_the_other() -> None:
    """BERT's tokens and positions, [CLS] and [SEP] apart; the same words are asked; a later blank knows the earlier."""
    for order in permutations(range(3)):
        positions = [2, 4, 5]
        bert = masked(TEXT, vocab=VOCAB, rng=Random(0), select=positions, corrupt=always_mask)
        example = filled(TEXT, [(position - 1, position) for position in positions], order)
        assert example.tokens[:6].equal(bert.tokens[1:-1])
        assert example.position_ids[0, :6].equal(bert.position_ids[0, 1:-1])
        starts = (example.tokens == START).nonzero().flatten()
        assert example.position_ids[0, starts].tolist() == [positions[i] for i in order]
        assert example.targets[starts].tolist() == bert.targets[[positions[i] for i in order]].tolist()
        for turn, start in enumerate(starts.tolist()):
            seen = example.visible.dense()[start]
            said = {int(token) for token in example.tokens[6:][seen[6:]]} - {START}
            assert bool(seen[:6].all()) and said == {TEXT[positions[i] - 1] for i in order[:turn]}


def drawn(count: int, draws: int, rate: float = 0.15) -> list[list[tuple[int, list[int]]]]:
    """The blanks of so many drawings of a text of ``count`` words, in the order of the text."""
    return [sorted(blanks_of(blank_infilling(LONG[:count], vocab=VOCAB, rng=OnlyRandom(seed), rate=rate)))
            for seed in range(draws)]


def test_lengths_are_poisson_s_and_hide_fifteen_percent() -> None:
    """3 / (1 − e⁻³) words in the mean, by a χ² test of some 5,000 spans. What is hidden goes beyond 15 % by what is
    left of the last span: in the mean E[L(L − 1)] / 2E[L] = 9/2 / 3 words, and so 301.5 of 2,000, 16.5 of 100."""
    spans = drawn(2000, 50)
    lengths = [len(words) for text in spans for _, words in text]
    assert sum(lengths) / len(lengths) == pytest.approx(3 / (1 - e ** -3), abs=0.08)
    found = Counter(min(length, 9) for length in lengths)
    chances = [stats.poisson.pmf(length, 3) for length in range(1, 9)]
    chances = [chance / (1 - e ** -3) for chance in (*chances, stats.poisson.sf(8, 3))]
    assert stats.chisquare([found[length] for length in range(1, 10)],
                           [chance * len(lengths) for chance in chances]).pvalue > 0.01
    for count, hidden, text in ((2000, 301.5, spans), (100, 16.5, drawn(100, 600))):
        each = [sum(len(words) for _, words in blanks) for blanks in text]
        assert min(each) == 0.15 * count and sum(each) / len(each) == pytest.approx(hidden, abs=0.35)


def test_spans_never_touch_and_stand_where_the_authors_put_them() -> None:
    """Of two single words in four, as often as their code says: places drawn each by itself, then sorted."""
    found = Counter[tuple[int, ...]]()
    for seed in range(1000):
        tokens = LONG[:4]
        example = blank_infilling(tokens, vocab=VOCAB, rng=OnlyRandom(seed), rate=0.5)
        read = example.tokens[:read_of(example)].tolist()
        assert [MASK, MASK] not in [read[i:i + 2] for i in range(len(read))]
        if sorted(len(words) for _, words in blanks_of(example)) == [1, 1]:
            found[tuple(i for i, word in enumerate(tokens) if word not in read)] += 1
    shares = {places: count / found.total() for places, count in found.items()}
    assert shares == pytest.approx({(0, 2): 0.25, (0, 3): 0.5, (1, 3): 0.25}, abs=0.1)


def test_no_length_comes_first() -> None:
    """Of twelve words two spans are hidden where the first drawn has one word: half of the time it stands first."""
    lengths = [[len(words) for _, words in text] for text in drawn(12, 1000)]
    differ = [pair for pair in lengths if len(pair) == 2 and pair[0] != pair[1]]
    assert all(1 in pair for pair in differ)
    assert sum(pair[0] == 1 for pair in differ) / len(differ) == pytest.approx(0.5, abs=0.1)


def test_a_length_that_does_not_fit_is_not_drawn() -> None:
    """Of two words one is hidden as often as Poisson says 1 where it says 1 or 2: 3 times in 3 + 4.5."""
    assert drawn(1, 5) == [[(1, [100])]] * 5
    alone = [len(text) == 1 and len(text[0][1]) == 1 for text in drawn(2, 1200)]
    assert sum(alone) / 1200 == pytest.approx(3 / 7.5, abs=0.04)
    for text in drawn(9, 300, rate=1.0):
        assert sum(len(words) for _, words in text) + len(text) - 1 >= 8, "no other span would fit"


def test_the_order_is_drawn_and_may_be_given() -> None:
    spans = [(0, 1), (2, 3), (4, 6)]
    found = Counter(tuple(place for place, _ in blanks_of(blank_infilling(
        TEXT, vocab=VOCAB, rng=OnlyRandom(seed), spans=spans))) for seed in range(600))
    assert len(found) == 6 and all(count / 600 == pytest.approx(1 / 6, abs=0.06) for count in found.values())
    assert found.keys() == {tuple(order) for order in permutations([1, 3, 5])}


def test_of_a_document_half_to_all_is_one_blank() -> None:
    """Of ten words five to ten, each as often. Half of the blanks reach the end by rule, the others by chance one time
    in 6, 5, … 1."""
    lengths, at_end = Counter[int](), 0
    for seed in range(800):
        example = document_infilling(LONG[:10], vocab=VOCAB, rng=OnlyRandom(seed))
        [(_, words)] = blanks_of(example)
        lengths[len(words)] += 1
        at_end += int(example.tokens[read_of(example) - 1] == MASK)
        assert put_back(example) == LONG[:10]
    assert set(lengths) == set(range(5, 11))
    assert all(count / 800 == pytest.approx(1 / 6, abs=0.05) for count in lengths.values())
    assert at_end / 800 == pytest.approx(0.5 + 0.5 * sum(1 / k for k in range(1, 7)) / 6, abs=0.05)


def test_whole_sentences_are_hidden() -> None:
    """Of four sentences one or two: until 15 % is hidden. Two that stand side by side have a [MASK] each."""
    sentences, tokens = [1, 4, 2, 6], LONG[:13]
    whole = {(101 + sum(sentences[:i]) - 1, n) for i, n in enumerate(sentences)}
    hidden = Counter[int]()
    for seed in range(600):
        example = sentence_infilling(tokens, vocab=VOCAB, rng=OnlyRandom(seed), sentences=sentences)
        blanks = [words for _, words in blanks_of(example)]
        assert {(words[0], len(words)) for words in blanks} <= whole and put_back(example) == tokens
        assert sum(map(len, blanks)) >= 0.15 * 13
        hidden[len(blanks)] += 1
    assert hidden.keys() == {1, 2}
    assert hidden[2] / 600 == pytest.approx(1 / 4, abs=0.07), "the sentence of one word came first"
    example = sentence_infilling(TEXT, vocab=VOCAB, rng=Random(0), sentences=[2, 2, 2], select=[2, 1], order=[1, 0])
    assert example.tokens.tolist() == [101, 102, MASK, MASK, START, 105, 106, START, 103, 104]
    assert sentence_infilling(TEXT, vocab=VOCAB, rng=Random(0)).tokens.tolist() == [MASK, START, *TEXT]


def test_a_pair_is_one_text_and_a_stranger_is_left_out() -> None:
    for follows, read in ((True, [*TEXT, 107, 108]), (False, TEXT)):
        assert put_back(blanks_of_pair(TEXT, [107, 108], follows, vocab=VOCAB, rng=OnlyRandom(1))) == read


def test_a_text_with_a_blank_behind() -> None:
    one, two = append_blank(TEXT[:2], None, VOCAB), append_blank(TEXT[:2], TEXT[2:4], VOCAB)
    assert one.tokens.tolist() == [101, 102, MASK, START] and one.segments.tolist() == [0, 0, 0, 2]
    assert two.tokens.tolist() == [101, 102, SEP, 103, 104, MASK, START]
    assert two.segments.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert two.position_ids.tolist() == [[1, 2, 3, 4, 5, 6, 6], [0, 0, 0, 0, 0, 0, 1]]
    assert rows(one) == ["1110"] * 3 + ["1111"] and set(two.targets.tolist()) == {IGNORE}


def test_hidden_words_are_asked_each_by_itself() -> None:
    """Positions count as BERT's do; where one word is asked, it is the blank of `blank_infilling`."""
    example, positions = independent_blanks(TEXT[:3], TEXT[3:], VOCAB, [2, 3, 6])
    assert example.tokens.tolist() == [101, MASK, MASK, SEP, 104, MASK, 106, START, START, START]
    assert example.position_ids.tolist() == [[1, 2, 3, 4, 5, 6, 7, 2, 3, 6], [0] * 7 + [1] * 3] and positions == [7, 8,
                                                                                                                  9]
    assert rows(example) == ["1111111000"] * 7 + ["1111111100", "1111111010", "1111111001"]
    assert "the blanks are predicted independently" in example.visible.reason(8, 7)
    alone, [position] = independent_blanks(TEXT, (), VOCAB, [3])
    usual = filled(TEXT, [(2, 3)])
    assert alone.tokens.equal(usual.tokens[:-1]) and alone.position_ids.equal(usual.position_ids[:,
                                                                                                 :-1]) and position == 6
    assert torch.equal(alone.visible.dense(), usual.visible.dense()[:-1, :-1])
    assert independent_blanks(TEXT, (), VOCAB, [])[1] == []


@pytest.mark.parametrize(("given", "told"), [
    ({"tokens": []}, "the text is empty"),
    ({"rate": 0.0}, "above 0 and at most 1"),
    ({"spans": [(2, 2)]}, r"spans=\[\(2, 2\)\] in a text of 6 words"),
    ({"spans": [(2, 4), (3, 5)]}, "not overlapping"),
    ({"spans": [(4, 5), (0, 2)]}, "in text order"),
    ({"spans": [(4, 7)]}, "not empty"),
    ({"spans": [(-1, 2)]}, "as in a slice"),
    ({"spans": [(0, 1), (2, 3)], "order": [0, 2]}, r"order=\[0, 2\]: give each of the blanks \[0, 1\]"),
    ({"spans": [(0, 1)], "order": [0, 0]}, "exactly once"),
])
def test_what_cannot_be_hidden(given, told) -> None:
    with pytest.raises(ValueError, match=told):
        blank_infilling(**({"tokens": TEXT, "vocab": VOCAB, "rng": Random(0)} | given))


def test_sentences_that_are_not_the_text() -> None:
    for given, told in (({"sentences": [2, 2]}, r"sentences=\[2, 2\]: the lengths must sum to the 6 words"),
                        ({"sentences": [6, 0]}, "at least one word"),
                        ({"sentences": [6], "select": [1]}, "the text has 1 sentences"),
                        ({"rate": 2.0}, "at most 1")):
        with pytest.raises(ValueError, match=told):
            sentence_infilling(TEXT, vocab=VOCAB, rng=Random(0), **given)
    for make in (document_infilling, sentence_infilling):
        with pytest.raises(ValueError, match="the text is empty"):
            make([], vocab=VOCAB, rng=Random(0))


@pytest.mark.parametrize("lacking", ["mask", "start", "end"])
def test_a_tokenizer_without_the_token(lacking: str) -> None:
    with pytest.raises(ValueError, match=rf"no \[{lacking.upper()}\] token"):
        blank_infilling(TEXT, vocab=Vocabulary(3000, **{lacking: None}), rng=Random(0))


def test_nothing_hidden_and_the_register() -> None:
    example = filled(TEXT, [])
    assert example.tokens.tolist() == TEXT and example.visible.dense().all()
    for make in (blank_infilling, document_infilling, sentence_infilling):
        assert OBJECTIVES[make.__name__].make is make and "GLM" in OBJECTIVES[make.__name__].title
