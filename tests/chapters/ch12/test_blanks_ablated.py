"""GLM's objective taken apart: what is paid, the floors of the very Examples, and the rules of the verdicts."""

from math import log
from random import Random

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch12 import blank_arms, blank_test_set
from plmlab.chapters.ch12 import blanks_ablated as paying
from plmlab.chapters.ch12.blank_arms import ARMS, PAPER
from plmlab.chapters.ch12.blank_test_set import Row, how_drawn
from plmlab.example import Batch
from plmlab.models.infilling import BlankInfiller
from plmlab.objectives.blanks import blank_infilling
from plmlab.recipes import Parts, seed_summary
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.blanks import DrawnBlanks
from studies.ch12 import blank_infilling as infilling
from studies.ch12 import blanks_ablated

CUP = ("the", "cup", "near", "the", "chairs", "is", "new", ".")
MIDDLE, LAST = Row(CUP, ((1, 2), (4, 6)), (1, 0)), Row(CUP, ((5, 8),), (0,))


@pytest.fixture(autouse=True)
def small_scale(toy_blanks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((blank_test_set, "TEST_SIZE", 10), (blank_test_set, "SEVERAL", 4),
                                (blanks_ablated, "WRITTEN", 3)):
        monkeypatch.setattr(module, name, value)


def test_what_is_shared_by_hand() -> None:
    """A blank of one word: it is said that it is not over yet (0.1 was over), the word (0.5), and that it is over."""
    told = paying.token_and_end_loss([False, True], [0.1, 0.6], [0.5, 0.6], 1)
    assert told == pytest.approx({"nats": -(log(0.5) + log(0.6)) / 2, "ends": -(log(0.9) + log(0.6))})
    assert paying.token_and_end_loss([False, True], [0.0, 1.0], [0.5, 1.0], 1)["ends"] == 0


@torch.no_grad()
def test_what_is_paid_is_the_models_loss() -> None:
    torch.manual_seed(0)
    model, rows, vocab = blank_arms.glm().eval(), blank_test_set.rows("test_set"), small_world_tokenizer().vocab
    for name in ("paper", "one sentinel per span", "sentinels, no position", "whole-text positions"):
        for ordered in (False, True):
            examples = [ARMS[name].shown(blank_infilling(
                small_world_tokenizer().encode(" ".join(row.words), plain=True), vocab=vocab, rng=Random(0),
                spans=row.spans, order=range(len(row.spans)) if ordered else row.order), None) for row in rows]
            told = paying.losses_of(model, ARMS[name], rows, ordered)
            assert told["nats"] == pytest.approx(float(model.loss(Batch.of(examples, pad=0))), abs=1e-5)
            assert 0 < told["ends"] < 10


def test_floors_are_those_of_the_rows_whatever_the_order() -> None:
    """Their sum is −log of the posterior of all that is hidden, by the exact reader of the grammar."""
    automaton, rows = world.small().automaton("test"), [*blank_test_set.rows("test_set"), MIDDLE, LAST]
    said = sum(stop - begin + 1 for row in rows for begin, stop in row.spans)
    for told in (False, True):
        nats = -sum(log(DrawnBlanks(automaton, row.text, drawing=how_drawn(row, told)).posterior(
            dict(enumerate(row.fillings)))) for row in rows)
        for ordered in (False, True):
            assert paying.floor(rows, ordered, told)["nats"] * said == pytest.approx(nats)


def test_only_who_sees_the_places_is_told_lengths() -> None:
    """By the exact reader's lengths; those of a blank at the end are not told either."""
    rows = [row for row in blank_test_set.rows("test_set") if len(row.spans) == 1]
    automaton, waits = world.small().automaton("test"), []
    for row in rows:
        untold, known = (paying.floor([row], False, told) for told in (False, True))
        reader = DrawnBlanks(automaton, row.text, drawing=how_drawn(row))
        assert untold["lengths"] == pytest.approx(-log(reader.lengths(0)[len(row.fillings[0])]))
        last = row.spans[0][1] == len(row.words)
        assert known["lengths"] == pytest.approx(untold["lengths"] if last else 0, abs=1e-9)
        waits.append((untold["lengths"] > 0.1, last))
    assert (True, False) in waits
    floors = blanks_ablated.floors()
    for rows in blanks_ablated.ROWS:
        assert floors["a random order"][rows]["nats"] == pytest.approx(floors["left-to-right order"][rows]["nats"])
        assert floors["whole-text positions"][rows]["lengths"] < floors["a random order"][rows]["lengths"]


@torch.no_grad()
def test_lengths_are_paid_by_the_share_of_the_fillings_that_have_them() -> None:
    """Against the filler of the paper's arm, and by hand."""
    torch.manual_seed(1)
    model, vocab = blank_arms.glm().eval(), small_world_tokenizer().vocab
    nats = []
    for row in blank_test_set.rows("test_set"):
        ways = list(blank_test_set.filling_probs(row))
        text = [small_world_tokenizer().id(word) for word in row.text]
        logprobs = BlankInfiller(model, [text] * len(ways), vocab, [row.order] * len(ways)).logprobs(
            [[[small_world_tokenizer().id(word) for word in words] for words in way] for way in ways])
        right = [[*map(len, way)] == [*map(len, row.fillings)] for way in ways]
        nats.append(float(logprobs.logsumexp(0) - logprobs[torch.tensor(right)].logsumexp(0)))
    found = blanks_ablated.lengths_paid(model, ARMS[PAPER], blank_test_set.rows("test_set"))
    assert found == pytest.approx(sum(nats) / len(nats), abs=1e-4)
    shares = {(("a",), ("b", "c")): 0.5, (("a", "b"), ("c",)): 0.25, (("d",), ("e", "f")): 0.25}
    two = Row(CUP, ((1, 2), (4, 6)), (0, 1))
    assert paying.right_lengths(two, shares) == pytest.approx(-log(0.75))


def test_places_of_part_a_by_hand() -> None:
    assert blank_test_set.places_of(MIDDLE) == [1, 2, 3, 4, 5, 7, 8]
    assert blank_test_set.places_of(LAST) == [*range(1, 7)]
    example = blank_infilling(range(50, 58), vocab=small_world_tokenizer().vocab, rng=Random(0), spans=MIDDLE.spans)
    assert blank_arms.own_places(example) == blank_test_set.places_of(MIDDLE)


def test_sentences_are_counted_by_hand() -> None:
    told = blanks_ablated.sentences([CUP, CUP[:-1], ("the", "cup", "."), CUP], {CUP[:-1]: 1})
    assert told == {"sentences": 0.5, "read": 0.25, "different": 0.75}


def test_what_is_written_goes_on_from_its_beginning() -> None:
    model = blank_arms.glm().eval()
    count = iter(range(100))

    def choose(logits: torch.Tensor) -> torch.Tensor:
        return torch.full((len(logits),), small_world_tokenizer().id("cup") if next(count) < 2
                          else small_world_tokenizer().vocab.end)
    for name in (PAPER, "with document blanks", "whole-text positions"):
        count = iter(range(100))
        assert blanks_ablated.continued(model, ARMS[name], [(), ("the",)], choose) == [
            ("cup", "cup"), ("the", "cup", "cup")]


def test_verdicts_are_those_of_the_rules() -> None:
    low, near, high = (seed_summary(dict(enumerate(values))) for values in ((0.01, 0.02), (0.03, 0.05), (0.05, 0.06)))
    assert blanks_ablated.compared(high, low) == "worse" and blanks_ablated.compared(low, high) == "better"
    assert blanks_ablated.compared(near, low) == blanks_ablated.compared(low, near) == "no effect"
    assert blanks_ablated.above(high, 0.05)["values"] == pytest.approx([0.0, 0.01])
    paid, papers = seed_summary({0: 0.4, 1: 0.5}), seed_summary({0: 0.7, 1: 0.9})
    told = blanks_ablated.read_off(seed_summary({0: 0.4, 1: 0.6}), papers, 0.8, 0.2)
    assert told["shares"] == pytest.approx([2 / 3, 1 / 3]) and not told["holds"]
    assert blanks_ablated.read_off(paid, papers, 0.8, 0.2)["holds"]
    assert not blanks_ablated.read_off(paid, paid, 0.8, 0.2)["holds"], "the paper's arm pays as little"
    one_axis = "consecutive positions", "whole-text positions"
    assert [blanks_ablated.own_floor(ARMS[name]) for name in (PAPER, *one_axis)] == [
        "a random order", "left-to-right order", "whole-text positions"]
    assert {name: ARMS[name].against for name in blanks_ablated.NAMES if ARMS[name].against != PAPER} == {
        "consecutive positions": "left-to-right order", "sentinels, no position": "one sentinel per span"}


def test_arms_are_told_by_their_budgets(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    names = (PAPER, "left-to-right order", "whole-text positions", "with document blanks", "consecutive positions")
    monkeypatch.setattr(blanks_ablated, "NAMES", names)
    monkeypatch.setattr(blank_arms, "LONGEST", 3)
    monkeypatch.setattr(blank_test_set, "rows", {"test_set": (MIDDLE, LAST), "several": (MIDDLE,)}.__getitem__)
    told = blanks_ablated.measure(parts)
    assert set(told["told"]) == set(names) and set(told["told"][PAPER]) == {"1", "2"} > set(told["told"][names[-1]])
    one = told["told"]["left-to-right order"]["2"]
    kept = infilling.trained(str(parts.folder), "left-to-right order", 2, 1)
    for rows in blanks_ablated.ROWS:
        again = paying.losses_of(kept, ARMS["left-to-right order"], blank_test_set.rows(rows), ordered=True)["nats"]
        assert one[rows]["nats"]["values"][1] == pytest.approx(again)
        least = told["floors"]["left-to-right order"][rows]["nats"]
        assert one["above"][rows]["values"][1] == pytest.approx(again - least)
        assert all(run["above"][rows]["low"] > 0 for of in told["told"].values() for run in of.values()), "a leak"
    assert told["compared"]["consecutive positions"]["against"] == "left-to-right order"
    assert set(told["as many blanks"]) == {"with document blanks"} and set(told["writes"]) <= set(names[1:])
    assert len(told["read off"]["shares"]) == 2
