"""Whole-word masking and ERNIE's entity-level masking, against examples of their sources and units marked by hand."""

from collections.abc import Callable
from itertools import permutations
from random import Random

import pytest
import torch
from standin import Scripted, annotated, words

from plmlab.example import IGNORE, Example
from plmlab.labs import MaskLab
from plmlab.objectives import always_mask, entities_masked, masked, whole_words
from plmlab.objectives.entities_masked import knowledge_units
from plmlab.objectives.next_sentence import next_sentence, with_nsp
from plmlab.objectives.whole_words import select_units
from plmlab.text import Text
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(1000)
CLS, SEP, MASK = 2, 3, 4
OBJECTIVES = pytest.mark.parametrize("objective", [whole_words, entities_masked])
TEXT = annotated(range(100, 130))


def text_of(line: str, entities: tuple[tuple[int, int], ...] = ()) -> Text:
    """A text in WordPiece notation; the id of a token is 100 plus its position, and ``entities`` are in tokens."""
    pieces = line.split()
    starts = [i for i, piece in enumerate(pieces) if not piece.startswith("##")]
    return Text(range(100, 100 + len(pieces)), words=zip(starts, [*starts[1:], len(pieces)], strict=True),
                entities=entities)


def shown(example: Example, line: str) -> str:
    """The input without its special tokens, masked tokens as [MASK]."""
    return " ".join("[MASK]" if id == MASK else piece
                    for id, piece in zip(example.tokens.tolist()[1:-1], line.split(), strict=True))


def selected(example: Example) -> list[int]:
    return (example.targets != IGNORE).nonzero().flatten().tolist()


def test_the_example_of_the_readme() -> None:
    """google-research/bert, README, May 31st, 2019."""
    line = "the man jumped up , put his basket on phil ##am ##mon ' s head"
    text = text_of(line)
    example = whole_words(text, vocab=VOCAB, rng=Random(0), select=[2, 9], corrupt=always_mask)
    assert text.words[9] == (9, 12)
    assert shown(example, line) == "the man [MASK] up , put his basket on [MASK] [MASK] [MASK] ' s head"
    assert selected(example) == [3, 10, 11, 12] and example.targets[selected(example)].tolist() == [
        102, 109, 110, 111]
    assert example.position_ids.tolist() == [list(range(len(text) + 2))] and not example.segments.any()
    assert bool(example.visible.dense().all()) and example.labels == {}


def test_the_sentence_of_ernie_s_figure() -> None:
    """The sentence of Sun et al. 2019, figure 2. At the entity level the name is one unit, and the others are words."""
    line = "Harry Potter is a series of fantasy novels written by British author J. K. Rowling"
    text = text_of(line, ((0, 2), (12, 15)))
    assert knowledge_units(text) == ((0, 2), *((i, i + 1) for i in range(2, 12)), (12, 15))
    example = entities_masked(text, vocab=VOCAB, rng=Random(0), select=[4, 7, 11], corrupt=always_mask)
    assert shown(example, line) == ("Harry Potter is a series [MASK] fantasy novels [MASK] by British author [MASK] "
                                    "[MASK] [MASK]")
    wholes = whole_words(text, vocab=VOCAB, rng=Random(0), select=[14], corrupt=always_mask)
    assert shown(wholes, line).endswith("J. K. [MASK]"), "whole words hide less than entities"


@OBJECTIVES
def test_no_unit_is_split(objective: Callable[..., Example]) -> None:
    units = {whole_words: TEXT.words, entities_masked: knowledge_units(TEXT)}[objective]
    assert any(end - start > 1 for start, end in units)
    for seed in range(60):
        chosen = set(selected(objective(TEXT, vocab=VOCAB, rng=Random(seed), rate=0.3)))
        assert chosen and all(len({position in chosen for position in range(1 + start, 1 + end)}) == 1
                              for start, end in units)
        assert not chosen & {0, len(TEXT) + 1}


def test_an_entity_that_ends_within_a_word_takes_all_of_it() -> None:
    text = Text(range(10), words=[(0, 2), (2, 5), (5, 6), (6, 9), (9, 10)], entities=[(1, 3), (4, 5), (7, 9)])
    assert knowledge_units(text) == ((0, 5), (5, 6), (6, 9), (9, 10))
    assert knowledge_units(Text([1, 2], words=[(0, 1), (1, 2)], entities=[])) == ((0, 1), (1, 2))


@pytest.mark.parametrize("sizes", [(1, 1, 2), (3, 1, 1), (2, 2, 2), (4, 4), (1, 5, 1), (2, 3, 1, 1)])
@pytest.mark.parametrize("budget", [1, 2, 3, 5])
def test_which_words_fit_in_every_order(sizes: tuple[int, ...], budget: int) -> None:
    """All orders, by brute force: BERT's rule never exceeds the budget, and skips only what does not fit."""
    units = tuple((sum(sizes[:i]), sum(sizes[:i + 1])) for i in range(len(sizes)))
    found = set[tuple[int, ...]]()
    for seed in range(60):
        found.add(tuple(sorted(select_units(units, budget, Random(seed)))))
    expected = set[tuple[int, ...]]()
    for order in permutations(range(len(sizes))):
        left, chosen = budget, list[int]()
        for i in order:
            if sizes[i] <= left:
                chosen.append(i)
                left -= sizes[i]
        expected.add(tuple(sorted(chosen)) if chosen else (order[0],))
        assert left >= 0
    assert found == expected


@pytest.mark.parametrize(("time", "budget"), [(128, 19), (20, 3), (8, 1)])
def test_the_budget_is_that_of_bert(time: int, budget: int) -> None:
    """15 % of all positions, rounded; reached where words of one token are left, never exceeded."""
    text = annotated(range(100, 98 + time))
    counts = {len(selected(whole_words(text, vocab=VOCAB, rng=Random(seed)))) for seed in range(40)}
    assert counts <= {budget}, "a word of one token is always left to fill the budget"
    long = Text(range(100, 106), words=[(0, 6)])
    assert selected(whole_words(long, vocab=VOCAB, rng=Random(0))) == [1, 2, 3, 4, 5, 6], "no word fits: the first one"


def test_each_unit_of_ernie_is_selected_on_its_own() -> None:
    """One draw per unit, in text order; if all miss, one more chooses a unit."""
    text = text_of("a b ##c d", ((1, 4),))
    assert knowledge_units(text) == ((0, 1), (1, 4))
    low, high = 0.1499, 0.15
    for draws, expected in (((low, high), [1]), ((high, low), [2, 3, 4]), ((low, low), [1, 2, 3, 4]),
                            ((high, high, 0.49), [1]), ((high, high, 0.51), [2, 3, 4])):
        rng = Scripted(*draws)
        assert selected(entities_masked(text, vocab=VOCAB, rng=rng, corrupt=always_mask)) == expected
        assert not rng.numbers


@OBJECTIVES
def test_80_10_10_is_decided_for_each_token(objective: Callable[..., Example]) -> None:
    """Of one word of two tokens: the first becomes [MASK], the second stays."""
    text = Text([100, 101], words=[(0, 2)], entities=[(0, 2)])
    example = objective(text, vocab=VOCAB, rng=Scripted(0.79, 0.95), select=[0])
    assert example.tokens.tolist() == [CLS, MASK, 101, SEP] and example.targets.tolist() == [IGNORE, 100, 101, IGNORE]


@OBJECTIVES
def test_with_words_of_one_token_only_the_choice_of_positions_is_its_own(objective: Callable[..., Example]) -> None:
    text = Text(range(100, 120), words=[(i, i + 1) for i in range(20)], entities=[])
    for seed in range(10):
        example = objective(text, vocab=VOCAB, rng=Random(seed), select=[3, 17])
        same = masked(text, vocab=VOCAB, rng=Random(seed), select=[4, 18])
        assert torch.equal(example.tokens, same.tokens) and torch.equal(example.targets, same.targets)


@OBJECTIVES
def test_a_pair(objective: Callable[..., Example]) -> None:
    first, second = text_of("a ##b c", ((0, 2),)), text_of("d e ##f", ((1, 3),))
    example = objective(first, pair=second, vocab=VOCAB, rng=Random(0), select=[0, 3], corrupt=always_mask)
    assert example.tokens.tolist() == [CLS, MASK, MASK, 102, SEP, 100, MASK, MASK, SEP]
    assert example.segments.tolist() == [0] * 5 + [1] * 4
    paired = with_nsp(objective)(first, second, False, vocab=VOCAB, rng=Random(0), select=[0, 3], corrupt=always_mask)
    assert torch.equal(paired.tokens, example.tokens) and paired.labels == {"next_sentence": torch.tensor(1)}
    with pytest.raises(ValueError, match="B is empty"):
        with_nsp(objective)(first, (), True, vocab=VOCAB, rng=Random(0))


def test_next_sentence_is_masked_with_its_label() -> None:
    made, other = (make([101, 102], [103], True, vocab=VOCAB, rng=Random(3))
                   for make in (next_sentence, with_nsp(masked)))
    assert torch.equal(made.tokens, other.tokens) and made.labels == other.labels == {"next_sentence": torch.tensor(0)}


@OBJECTIVES
def test_same_seed_same_example(objective: Callable[..., Example]) -> None:
    one, again, other = (objective(TEXT, vocab=VOCAB, rng=Random(seed), rate=0.4) for seed in (7, 7, 8))
    assert torch.equal(one.tokens, again.tokens) and torch.equal(one.targets, again.targets)
    assert not torch.equal(one.targets, other.targets)


def test_same_example_on_every_machine() -> None:
    """Written down once: what the one stream that Python guarantees makes of it."""
    found = [selected(make(TEXT, vocab=VOCAB, rng=Random(42))) for make in (whole_words, entities_masked)]
    assert found == [[10, 13, 23, 24, 25], [2, 3, 4, 13, 16, 20, 21]]


@OBJECTIVES
def test_what_cannot_be_masked(objective: Callable[..., Example]) -> None:
    for ids in ([100, 101], Text([100, 101])):
        with pytest.raises(ValueError, match=r"needs the (words|entities) of a text"):
            objective(ids, vocab=VOCAB, rng=Random(0))
    with pytest.raises(ValueError, match="no words, so nothing can be masked"):
        objective(Text(words=(), entities=()), vocab=VOCAB, rng=Random(0))
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        objective(TEXT, vocab=VOCAB, rng=Random(0), rate=1.5)
    for select in ([-1], [0, 40]):
        with pytest.raises(ValueError, match="give indices of words or entities, from 0 to "):
            objective(TEXT, vocab=VOCAB, rng=Random(0), select=select)


@pytest.mark.parametrize("name", ["whole_words", "entities_masked"])
def test_the_mask_lab_draws_it(name: str) -> None:
    lab = MaskLab(words(), "the old baker told the ferryman a story", name, choices={"rate": 0.6})
    assert lab.message == "" and lab.state["texts"] == 1 and "mask" in lab.state["marks"]
    name_of = [lab.state["targets"][position] for position in (2, 3)]
    assert name == "whole_words" or name_of in (["old", "baker"], [None, None])
