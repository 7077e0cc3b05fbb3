"""UniLM's four masks: the paper's figure, the authors' code worked by hand, and the rates that are drawn."""

from collections import Counter
from itertools import pairwise
from random import Random

import pytest
import torch

from plmlab.example import IGNORE, Batch, Example
from plmlab.objectives import causal, masked
from plmlab.objectives.prefix import (
    MASKS,
    SHARES,
    both_directions,
    left_to_right,
    mask_mixture,
    mask_mixture_pair,
    masked_seq2seq_target,
    prefix,
    right_to_left,
    sample_ngrams,
    source_and_target,
    source_only,
    unmasked_input,
)
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(1000)
PAD, UNK, CLS, SEP, MASK, START, END = range(7)
TEXT = [101, 102, 103, 104]
LONG = list(range(100, 140))
NOTHING = {"vocab": VOCAB, "rng": Random(0), "select": ()}
masks = pytest.mark.parametrize("make", MASKS.values(), ids=MASKS)


def rows(example: Example) -> list[str]:
    return ["".join(map(str, row)) for row in example.visible.dense().int().tolist()]


def asked(example: Example) -> list[int]:
    return (example.targets != IGNORE).nonzero().flatten().tolist()


def same(a: Example, b: Example) -> bool:
    parts = ("tokens", "position_ids", "segments", "targets")
    return rows(a) == rows(b) and all(torch.equal(getattr(a, part), getattr(b, part)) for part in parts)


def test_the_figure_sequence_to_sequence() -> None:
    """Dong et al. 2019, fig. 1, with segments of three positions each."""
    example = prefix([11], pair=[12, 13], **NOTHING)
    assert example.tokens.tolist() == [CLS, 11, SEP, 12, 13, SEP]
    assert rows(example) == ["111000", "111000", "111000", "111100", "111110", "111111"]
    assert example.segments.tolist() == [4, 4, 4, 5, 5, 5] and example.position_ids.tolist() == [[0, 1, 2, 3, 4, 5]]


def test_what_the_authors_code_gives_for_a_source_of_two_and_a_target_of_four() -> None:
    """Run by itself, their loader says of 2 and 4 words, and of 2 and 2 from left to right, just these."""
    example = prefix([11, 12], pair=[13, 14, 15, 16], **NOTHING)
    assert rows(example) == [*["111100000"] * 4, "111110000", "111111000", "111111100", "111111110", "111111111"]
    assert example.segments.tolist() == [4, 4, 4, 4, 5, 5, 5, 5, 5]
    alone = left_to_right([11, 12, SEP, 13, 14], **NOTHING)
    assert rows(alone) == ["1000000", "1100000", "1110000", "1111000", "1111100", "1111110", "1111111"]
    assert alone.segments.tolist() == [2] * 7


def test_the_other_three_are_gpt_s_bert_s_and_gpt_s_from_the_other_end() -> None:
    left, right, both = (make(TEXT, **NOTHING) for make in (left_to_right, right_to_left, both_directions))
    gpt = causal([CLS, *TEXT], vocab=VOCAB, rng=Random(0))
    bert = masked(TEXT, vocab=VOCAB, rng=Random(0), select=())
    assert rows(left) == rows(gpt) and rows(both) == rows(bert) and both.segments.equal(bert.segments)
    assert torch.equal(right.visible.dense(), left.visible.dense().T)
    assert rows(right)[1] == "011111", "not the other triangle's rows put upside down"
    assert left.visible.pattern == "causal" and Batch.of([left, left], pad=PAD).visible.only_causal
    assert right.visible.pattern == "other"


def test_the_segments_tell_the_mask() -> None:
    """No segment stands under two masks; a pair under BERT's mask is a pair of BERT's."""
    found = {name: set(make(TEXT, pair=[105], **NOTHING).segments.tolist()) for name, make in MASKS.items()}
    assert found == {"both directions": {0, 1}, "left to right": {2}, "right to left": {3},
                     "sequence to sequence": {4, 5}}
    pair, bert = both_directions(TEXT, pair=[105], **NOTHING), masked(TEXT, pair=[105], **NOTHING)
    assert same(pair, bert)
    assert left_to_right(TEXT, pair=[105], **NOTHING).tokens.tolist() == [CLS, *TEXT, 105, SEP]
    assert both_directions(TEXT, **NOTHING).segments.tolist() == [0] * 6


@masks
def test_a_position_says_its_own_word(make) -> None:
    for seed in range(20):
        whole = make(LONG[:9], pair=LONG[9:20], **NOTHING).tokens
        example = make(LONG[:9], pair=LONG[9:20], vocab=VOCAB, rng=Random(seed), rate=0.4)
        positions = asked(example)
        assert example.targets[positions].equal(whole[positions]) and len(positions) == round(0.4 * len(whole))
        rest = example.targets == IGNORE
        assert example.tokens[rest].equal(whole[rest])
        assert not {CLS, SEP} & set(example.targets.tolist())
    given = make(TEXT, pair=[105], vocab=VOCAB, rng=Random(0), select=[3, 1],
                 corrupt=lambda token, *_: {101: 900, 103: MASK}[token])
    assert asked(given) == [1, 3] and given.tokens[[1, 3]].tolist() == [900, MASK]
    assert given.targets[[1, 3]].tolist() == [101, 103]


def test_what_is_hidden_shows_what_bert_shows() -> None:
    shown = Counter[str]()
    for seed in range(300):
        example = left_to_right(LONG[:38], vocab=VOCAB, rng=Random(seed))
        shown.update("mask" if example.tokens[position] == MASK else
                     "kept" if example.tokens[position] == example.targets[position] else "other"
                     for position in asked(example))
    assert {name: round(count / 1800, 1) for name, count in shown.items()} == {"mask": 0.8, "other": 0.1, "kept": 0.1}


@pytest.mark.parametrize("count", [0, 1, 2, 7, 30])
def test_as_many_are_hidden_as_there_are_to_be(count: int) -> None:
    positions = [*range(1, 11), *range(12, 20)]
    for seed in range(30):
        chosen = sample_ngrams(positions, count, Random(seed))
        assert len(chosen) == len(set(chosen)) == min(count, len(positions)) and set(chosen) <= set(positions)


def test_one_time_in_five_neighbours_go_together() -> None:
    """With room for three, far from an end, the first draw is alone four times in five, else two or three, half and
    half; what is drawn next stands behind it one time in a thousand."""
    positions, first = list(range(1000)), Counter[int]()
    for seed in range(1500):
        chosen = sample_ngrams(positions, 3, Random(seed))
        run = 1
        while run < 3 and chosen[run] == chosen[run - 1] + 1:
            run += 1
        first[run] += 1
    for size, share in ((1, 0.8), (2, 0.1), (3, 0.1)):
        assert first[size] / 1500 == pytest.approx(share, abs=0.04), size


def test_neighbours_end_where_words_do() -> None:
    """No bigram reaches over a [SEP], which is no word; what would be one too many is cut."""
    ended = Counter[int]()
    for seed in range(2000):
        chosen = sample_ngrams([4, 5, 7, 8, 9, 10, 11], 3, Random(seed))
        ended[chosen[0]] += chosen[1] == chosen[0] + 1
        assert 6 not in chosen and 12 not in chosen
    assert ended[5] == 0 and ended[11] == 0 and min(ended[position] for position in (4, 7, 8, 9, 10)) > 40


@masks
def test_bigrams_are_hidden_under_every_mask(make) -> None:
    """Of 100 words 15 are hidden. Alone they would touch 15 · 14 / 100 = 2.1 times in the mean; drawn as in the
    authors' code, with sets and ``random.shuffle``, 4.58 times."""
    touching = 0
    for seed in range(300):
        positions = asked(make(range(100, 200), vocab=VOCAB, rng=Random(seed),
                               **({"cut": 0.0} if make is prefix else {})))
        touching += sum(b == a + 1 for a, b in pairwise(positions))
    assert touching / 300 == pytest.approx(4.58, abs=0.45)


@pytest.mark.parametrize(("cut", "source"), [(0.0, 0), (0.3, 1), (0.5, 2), (0.74, 3), (1.0, 3)])
def test_where_one_text_is_cut(cut: float, source: int) -> None:
    example = prefix(TEXT, cut=cut, **NOTHING)
    assert example.tokens.tolist() == [CLS, *TEXT[:source], SEP, *TEXT[source:], SEP]
    assert example.segments.tolist() == [4] * (source + 2) + [5] * (5 - source)
    assert same(example, prefix(TEXT[:source], pair=TEXT[source:], **NOTHING))


def test_texts_that_are_too_short_to_cut() -> None:
    assert prefix([101], **NOTHING).tokens.tolist() == [CLS, SEP, 101, SEP]
    assert prefix([], vocab=VOCAB, rng=Random(0)).targets.tolist() == [IGNORE] * 3
    for make in MASKS.values():
        assert not asked(make([], vocab=VOCAB, rng=Random(0)))


def which(example: Example) -> str:
    """The mask by what it lets look, not by its segments."""
    looks = example.visible.dense()
    if looks.all():
        return "both directions"
    if torch.equal(looks, looks.tril()):
        return "left to right"
    return "right to left" if torch.equal(looks, looks.triu()) else "sequence to sequence"


@pytest.mark.parametrize("shares", [SHARES, {"right to left": 3.0, "sequence to sequence": 1.0}])
def test_masks_are_drawn_by_their_shares(shares: dict[str, float]) -> None:
    """Any numbers in proportion; a third, a third and two sixths as in §2.4."""
    drawn, cuts = Counter[str](), Counter[int]()
    for seed in range(600):
        example = mask_mixture(TEXT, vocab=VOCAB, rng=Random(seed), shares=shares)
        drawn[mask := which(example)] += 1
        if mask == "sequence to sequence":
            cuts[int((example.segments == 4).sum()) - 2] += 1
    assert set(drawn) == set(shares)
    for name, share in shares.items():
        assert drawn[name] / 600 == pytest.approx(share / sum(shares.values()), abs=0.08)
    assert set(cuts) == {0, 1, 2, 3} and min(cuts.values()) > 0.05 * sum(cuts.values())
    assert SHARES == {"both directions": 1 / 3, "sequence to sequence": 1 / 3, "left to right": 1 / 6,
                      "right to left": 1 / 6} and set(MASKS) == set(SHARES)


def test_same_seed_same_example() -> None:
    for seed in range(12):
        one, again = (mask_mixture(LONG, vocab=VOCAB, rng=Random(seed)) for _ in range(2))
        assert same(one, again)
    assert not same(left_to_right(LONG, vocab=VOCAB, rng=Random(1)), left_to_right(LONG, vocab=VOCAB, rng=Random(2)))


def test_same_example_on_every_machine() -> None:
    """Written down once: what the one stream that Python guarantees makes of it."""
    seen = [(which(one), asked(one))
            for one in (mask_mixture(LONG[:12], vocab=VOCAB, rng=Random(s)) for s in range(3, 7))]
    assert seen == [("both directions", [4, 11]), ("both directions", [3, 4]), ("sequence to sequence", [2, 3]),
                    ("left to right", [8, 12])]


@pytest.mark.parametrize("follows", [True, False])
def test_pairs(follows: bool) -> None:
    """Whether B follows is asked under BERT's mask alone; elsewhere a stranger is not read."""
    first, second = TEXT, [105, 106]
    seen = set()
    for seed in range(60):
        example = mask_mixture_pair(first, second, follows, vocab=VOCAB, rng=Random(seed))
        mask, label = which(example), int(example.labels["next_sentence"])
        truth = torch.where(example.targets != IGNORE, example.targets, example.tokens).tolist()
        words = [token for token in truth if token not in (CLS, SEP)]
        seen.add(mask)
        if mask == "both directions":
            assert label == (0 if follows else 1) and words == first + second
            assert truth == [CLS, *first, SEP, *second, SEP]
        else:
            assert label == IGNORE and words == (first + second if follows else first)
            if mask == "sequence to sequence" and follows:
                assert truth == [CLS, *first, SEP, *second, SEP], "the first is the source of the second"
    assert seen == set(MASKS)


def test_only_the_target_and_the_end_behind_it_are_hidden() -> None:
    source, target = LONG[:5], LONG[5:14]
    begin, ends = len(source) + 2, 0
    places = Counter[int]()
    for seed in range(400):
        example = masked_seq2seq_target(source, target, vocab=VOCAB, rng=Random(seed))
        positions = asked(example)
        assert len(positions) == 7, "seven in ten of nine words and their end"
        assert min(positions) >= begin and example.targets[positions].tolist() == [(*target, SEP)[position - begin]
                                                                                   for position in positions]
        assert example.tokens[:begin].tolist() == [CLS, *source, SEP]
        places.update(positions)
        ends += begin + len(target) in positions
    assert ends / 400 == pytest.approx(0.7, abs=0.1) and min(places.values()) > 240 and max(places.values()) < 320
    whole = prefix(source, pair=target, **NOTHING)
    assert rows(example) == rows(whole) and example.segments.equal(whole.segments)


@pytest.mark.parametrize(("target", "rate", "count"), [(0, 0.7, 1), (1, 0.05, 1), (9, 1.0, 10), (9, 0.5, 5)])
def test_how_much_of_a_target_is_hidden(target: int, rate: float, count: int) -> None:
    assert len(asked(masked_seq2seq_target(TEXT, LONG[:target], vocab=VOCAB, rng=Random(0), rate=rate))) == count


def test_no_bigrams_are_hidden_in_fine_tuning() -> None:
    """Of two positions among 21, neighbours are 20 of 210 pairs."""
    touching = 0
    for seed in range(1500):
        one, other = asked(masked_seq2seq_target([11], LONG[:20], vocab=VOCAB, rng=Random(seed), rate=0.1))
        touching += other == one + 1
    assert touching / 1500 == pytest.approx(20 / 210, abs=0.025)


def test_what_is_read_with_nothing_hidden() -> None:
    for make in MASKS.values():
        assert same(unmasked_input(make, TEXT, [105], VOCAB), make(TEXT, pair=[105], **NOTHING))
    source = source_only(TEXT, VOCAB)
    whole = prefix(TEXT, pair=[105], **NOTHING)
    assert source.tokens.tolist() == [CLS, *TEXT, SEP] and source.segments.tolist() == [4] * 6
    assert source.visible.dense().equal(whole.visible.dense()[:6, :6]) and not asked(source)
    assert source_and_target(6, 2).dense().equal(whole.visible.dense())


def test_reasons_in_words() -> None:
    words = ["[CLS]", "a", "[SEP]", "b", "c", "[SEP]"]
    visible = prefix([11], pair=[12, 13], **NOTHING).visible
    assert visible.reason(0, 2, words).startswith("[CLS] can attend to [SEP]: [SEP] is in the source")
    assert visible.reason(1, 3, words) == "a cannot attend to b: a is in the source, which is encoded before the " \
                                          "target is generated."
    assert "b is not after c in the target" in visible.reason(4, 3, words)
    assert "would leak a target" in visible.reason(3, 4, words)
    assert "is to the right of" in left_to_right(TEXT, **NOTHING).visible.reason(1, 2)
    assert "is to the left of" in right_to_left(TEXT, **NOTHING).visible.reason(2, 1)


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.01])
def test_what_is_no_share(rate: float) -> None:
    for make in (*MASKS.values(), lambda text, **given: masked_seq2seq_target(text, text, **given)):
        with pytest.raises(ValueError, match="above 0 and at most 1"):
            make(TEXT, vocab=VOCAB, rng=Random(0), rate=rate)
    with pytest.raises(ValueError, match=f"cut={rate - 2}: .* must be from 0 to 1"):
        prefix(TEXT, vocab=VOCAB, rng=Random(0), cut=rate - 2)


def test_a_tokenizer_without_the_token() -> None:
    for lacking in ("cls", "sep", "mask"):
        with pytest.raises(ValueError, match=rf"no \[{lacking.upper()}\] token"):
            prefix(TEXT, vocab=Vocabulary(1000, **{lacking: None}), rng=Random(0))
