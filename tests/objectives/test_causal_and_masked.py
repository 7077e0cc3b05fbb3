"""The first two objectives, against their papers' figures and rates."""

from random import Random

import pytest
import torch
from standin import annotated

from plmlab.example import IGNORE, Example
from plmlab.objectives import OBJECTIVES, causal, masked
from plmlab.objectives.masked import Corruption, always_mask, always_mask_same_draws, bert_80_10_10
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility

VOCAB = Vocabulary(1000)
PAD, UNK, CLS, SEP, MASK, START, END = range(7)
TEXT = [101, 102, 103, 104, 105]


def same(a: Example, b: Example) -> bool:
    parts = ("tokens", "position_ids", "segments", "targets")
    return all(torch.equal(getattr(a, part), getattr(b, part)) for part in parts)


def test_causal() -> None:
    example = causal(TEXT, vocab=VOCAB, rng=Random(0))
    assert example.tokens.tolist() == [START, *TEXT] and example.targets.tolist() == [*TEXT, END]
    assert example.position_ids.tolist() == [[0, 1, 2, 3, 4, 5]] and not example.segments.any()
    assert torch.equal(example.visible.dense(), torch.ones(6, 6, dtype=torch.bool).tril())
    assert causal([], vocab=VOCAB, rng=Random(0)).targets.tolist() == [END]


def test_bert_figure() -> None:
    """Devlin et al. 2019, §A.1: "my dog is hairy", hairy selected, and its three fates."""
    my, dog, is_, hairy, apple = 11, 12, 13, 14, 15
    for shown in (MASK, apple, hairy):
        example = masked([my, dog, is_, hairy], vocab=VOCAB, rng=Random(0), select=[4],
                         corrupt=lambda *_, shown=shown: shown)
        assert example.tokens.tolist() == [CLS, my, dog, is_, shown, SEP]
        assert example.targets.tolist() == [IGNORE] * 4 + [hairy, IGNORE]


def test_a_pair_has_two_segments() -> None:
    example = masked(TEXT[:2], pair=TEXT[2:], vocab=VOCAB, rng=Random(0), select=())
    assert example.tokens.tolist() == [CLS, 101, 102, SEP, 103, 104, 105, SEP]
    assert example.segments.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert example.position_ids.tolist() == [list(range(8))] and (example.targets == IGNORE).all()
    assert torch.equal(example.visible.dense(), Visibility.full(8).dense())


@pytest.mark.parametrize(("time", "predictions"), [(128, 19), (512, 77), (3, 1), (20, 3)])
def test_how_many_are_predicted(time: int, predictions: int) -> None:
    """15 % of all positions: 19 of 128 and 77 of 512, as in BERT's own code; at least one."""
    for seed in range(5):
        example = masked([100] * (time - 2), vocab=VOCAB, rng=Random(seed))
        assert (example.targets != IGNORE).sum() == predictions


def test_rates_of_all_tokens() -> None:
    """12 % of all tokens show [MASK], 1.5 % another word, 1.5 % themselves though they are asked."""
    rng, tokens, runs = Random(1), list(range(7 + 32, 7 + 32 + 126)), 800
    mask = other = kept = 0
    words = set(VOCAB.words)
    places = torch.zeros(128)
    for _ in range(runs):
        example = masked(tokens, vocab=VOCAB, rng=rng)
        truth = torch.tensor([CLS, *tokens, SEP])
        asked = example.targets != IGNORE
        assert torch.equal(example.targets[asked], truth[asked])
        assert torch.equal(example.tokens[~asked], truth[~asked])
        shown = example.tokens[asked]
        mask += int((shown == MASK).sum())
        kept += int((shown == truth[asked]).sum())
        strangers = shown[(shown != MASK) & (shown != truth[asked])].tolist()
        assert set(strangers) <= words
        other += len(strangers)
        places += asked
    whole = 128 * runs
    # four standard errors of a binomial at this size
    for share, expected in ((mask, 19 / 128 * 0.8), (other, 19 / 128 * 0.1), (kept, 19 / 128 * 0.1)):
        assert share / whole == pytest.approx(expected, abs=4 * (expected / whole) ** 0.5)
    assert round(mask / whole, 2) == 0.12
    assert places[0] == places[-1] == 0
    assert places[1:-1].min() > 0.5 * runs * 19 / 126 and places[1:-1].max() < 1.5 * runs * 19 / 126


def test_same_seed_same_example() -> None:
    tokens = list(range(100, 160))
    first = masked(tokens, vocab=VOCAB, rng=Random(7))
    assert same(first, masked(tokens, vocab=VOCAB, rng=Random(7)))
    assert not same(first, masked(tokens, vocab=VOCAB, rng=Random(8)))


def test_same_example_on_every_machine() -> None:
    """Written down once: what the one stream that Python guarantees makes of it."""
    example = masked(list(range(100, 112)), vocab=VOCAB, rng=Random(42))
    asked = (example.targets != IGNORE).nonzero().flatten().tolist()
    assert (asked, example.tokens[asked].tolist()) == ([4, 9], [MASK, MASK])


def test_what_is_chosen_is_not_drawn() -> None:
    example = masked(TEXT, vocab=VOCAB, rng=Random(0), select=[5, 1],
                     corrupt=lambda token, *_: {101: 900, 105: MASK}[token])
    assert example.tokens.tolist() == [CLS, 900, 102, 103, 104, MASK, SEP]
    assert example.targets.tolist() == [IGNORE, 101, IGNORE, IGNORE, IGNORE, 105, IGNORE]


def test_who_always_shows_mask_draws_nothing_or_what_bert_draws() -> None:
    """What comes after it in one stream of draws stays as without any, or as beside BERT's."""
    drawn: dict[Corruption, float] = {}
    for corrupt in (bert_80_10_10, always_mask, always_mask_same_draws):
        rng = Random(0)
        example = masked(TEXT, vocab=VOCAB, rng=rng, select=[1, 2, 4], corrupt=corrupt)
        assert (example.tokens[[1, 2, 4]] == MASK).all() == (corrupt is not bert_80_10_10)
        assert example.targets[[1, 2, 4]].tolist() == [101, 102, 104]
        drawn[corrupt] = rng.random()
    assert drawn[always_mask] == Random(0).random() != drawn[bert_80_10_10] == drawn[always_mask_same_draws]


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.01])
def test_a_rate_that_is_no_share(rate: float) -> None:
    with pytest.raises(ValueError, match=r"above 0 and at most 1"):
        masked(TEXT, vocab=VOCAB, rng=Random(0), rate=rate)


def test_a_tokenizer_without_the_token() -> None:
    bare = Vocabulary(1000, start=None, mask=None)
    for objective, name in ((causal, "START"), (masked, "MASK")):
        with pytest.raises(ValueError, match=rf"no \[{name}\] token"):
            objective(TEXT, vocab=bare, rng=Random(0))


def test_the_register() -> None:
    assert OBJECTIVES["causal"].make is causal and OBJECTIVES["masked"].make is masked
    for objective in OBJECTIVES.values():
        assert objective.title and objective.paper and objective.chinese and objective.question and objective.answer
        for choice in objective.choices:
            assert choice.low <= choice.default <= choice.high
            texts = [annotated(TEXT * 4)] * objective.texts
            objective.make(*texts, vocab=VOCAB, rng=Random(0), **{choice.name: choice.low})
