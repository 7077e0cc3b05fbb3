"""The arms of GLM's ablations: figure 2 of the paper as each shows it, worked by hand; each fills as it shows."""

from collections.abc import Sequence
from random import Random

import pytest
import torch
from torch import nn

from plmlab.chapters.ch12 import blank_arms, blank_test_set
from plmlab.chapters.ch12.blank_arms import ARMS, PAPER
from plmlab.decode import greedy
from plmlab.example import Batch, Example
from plmlab.models.glm import GLMPretraining
from plmlab.models.infilling import BlankInfiller
from plmlab.objectives.blanks import blank_infilling, infilled
from plmlab.world.datasets.tokenizer import small_world_tokenizer

VOCAB = small_world_tokenizer().vocab
MASK, START, END = 4, 5, 6
X0, X1 = VOCAB.sentinels[:2]
GLMS = [name for name, arm in ARMS.items() if arm.network is blank_arms.glm]


def shown(spans: Sequence[tuple[int, int]], order: Sequence[int], count: int = 6) -> Example:
    return blank_infilling(range(51, 51 + count), vocab=VOCAB, rng=Random(0), spans=spans, order=order)


FIGURE = shown([(2, 3), (4, 6)], [1, 0])
"""x1 x2 [M] x4 [M], then [S] x5 x6, then [S] x3."""


def made() -> GLMPretraining:
    """Weights large enough that what is said differs from position to position, and [END] is likely."""
    torch.manual_seed(5)
    model = blank_arms.glm().eval()
    for place, weight in model.named_parameters():
        nn.init.normal_(weight, mean=float(place.endswith("norm.weight")), std=0.3)
    with torch.no_grad():
        model.encoder.final_norm.bias += 0.4 * model.encoder.embeddings.token.weight[END]
    return model


def test_places_of_the_whole_text_by_hand() -> None:
    assert FIGURE.position_ids.tolist() == [[1, 2, 3, 4, 5, 5, 5, 5, 3, 3], [0, 0, 0, 0, 0, 1, 2, 3, 1, 2]]
    one = blank_arms.whole_text(FIGURE)
    assert one.position_ids.tolist() == [[1, 2, 3, 4, 5, 5, 6, 7, 3, 4], [0] * 5 + [1] * 5]
    long = blank_arms.whole_text(shown([(1, 4)], [0]))
    assert long.tokens.tolist() == [51, MASK, 55, 56, START, 52, 53, 54]
    assert long.position_ids[0].tolist() == [1, 2, 5, 6, 2, 3, 4, 5], "where the end is said, a word in sight stands"
    assert torch.equal(long.targets, shown([(1, 4)], [0]).targets)
    half = infilled([51, MASK, 55, 56], [[52]], [0], VOCAB)
    assert blank_arms.whole_text(half, [1, 2, 5, 6]).position_ids[0].tolist() == [1, 2, 5, 6, 2, 3]


def test_counting_on_by_hand() -> None:
    one = blank_arms.counting_on(FIGURE)
    assert one.position_ids.tolist() == [[*range(1, 11)], [0] * 5 + [1] * 5] and torch.equal(one.tokens, FIGURE.tokens)


def test_one_axis_by_hand() -> None:
    one = blank_arms.one_axis(FIGURE)
    assert one.position_ids.tolist() == [[1, 2, 3, 4, 5, 5, 5, 5, 3, 3], [0] * 5 + [1] * 5]


def test_sentinels_by_hand() -> None:
    placed, alone = blank_arms.sentinels(FIGURE), blank_arms.sentinels_alone(FIGURE)
    for one in (placed, alone):
        assert one.tokens.tolist() == [51, 52, X1, 54, X0, X0, 55, 56, X1, 53]
        assert torch.equal(one.targets, FIGURE.targets) and FIGURE.tokens.tolist().count(MASK) == 2
    assert torch.equal(placed.position_ids, FIGURE.position_ids)
    assert alone.position_ids.tolist() == [[1, 2, 3, 4, 5, 0, 0, 0, 0, 0], FIGURE.position_ids[1].tolist()]


def test_only_the_places_of_the_whole_text_tell_a_length() -> None:
    """Part A of two texts that differ in how long the hidden span is, and in nothing else."""
    for name in GLMS:
        parts = []
        for count, stop in ((5, 2), (7, 4)):
            tokens = [51, *[60] * (stop - 1), 57, 58, 59]
            example = ARMS[name].shown(blank_infilling(tokens, vocab=VOCAB, rng=Random(0), spans=[(1, stop)]), None)
            read = 5
            assert len(tokens) == count
            parts.append((example.tokens[:read].tolist(), example.position_ids[:, :read].tolist()))
        assert (parts[0] != parts[1]) == (name == "whole-text positions"), name


def test_a_second_objective_has_a_mask_of_its_own() -> None:
    example = blank_arms.own_mask(shown([(3, 6)], [0]))
    assert example.tokens.tolist() == [51, 52, 53, VOCAB.sentinels[-1], START, 54, 55, 56]
    assert {name for name in GLMS if ARMS[name].second} == {"with document blanks", "with sentence blanks"}
    assert all(ARMS[name].long is ARMS[name].shown for name in GLMS if not ARMS[name].second)


TEXTS = [[60, MASK, 62, 63, MASK, 65], [MASK], [MASK, 66, 67], [70, 71, 72, MASK]]
PLACES = [[1, 2, 5, 6, 7, 9], [1], [1, 4, 5], [1, 2, 3, 4]]


def test_the_papers_arm_fills_as_its_own_filler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blank_arms, "LONGEST", 6)
    model = made()
    said = blank_arms.filled(model, blank_arms.as_it_is, TEXTS, PLACES)
    filler = BlankInfiller(model, TEXTS, VOCAB)
    theirs = greedy(filler, filler.prompt, VOCAB, length=40, banned=filler.banned)
    compared = 0
    for row, text in enumerate(theirs):
        for blank, words in filler.fillings(row, text.tokens).items():
            assert said[row][blank] == list(words)[:6]
            compared += len(words) > 0
            if len(words) >= 6:
                break
    assert compared >= 2


@torch.no_grad()
@pytest.mark.parametrize("name", GLMS)
def test_each_arm_says_the_likeliest_as_it_would_be_shown_what_it_said(name: str,
                                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blank_arms, "LONGEST", 4)
    model, show = made(), ARMS[name].shown
    ends = 0
    for text, places, said in zip(TEXTS, PLACES, blank_arms.filled(model, show, TEXTS, PLACES), strict=True):
        example = show(infilled(text, said, range(len(said)), VOCAB), places)
        logits = model(Batch.of([example], pad=0))[0]
        logits[:, sorted(VOCAB.special - {END})] = -torch.inf
        position = len(text)
        for words in said:
            best, likeliest = logits[position:position + len(words) + 1].topk(2)
            assert (best[:, 0] - best[:, 1]).min() > 1e-4, "no rounding makes another word the likeliest"
            wanted = likeliest[:, 0].tolist()
            assert wanted[:len(words)] == words and len(words) <= 4
            if len(words) < 4:
                assert wanted[-1] == END
                ends += 1
            position += len(words) + 1
    assert ends or name != PAPER, "some blank is ended"


def test_what_is_drawn_is_written() -> None:
    model, count = made(), iter(range(100))

    def choose(logits: torch.Tensor) -> torch.Tensor:
        """Two words and the end for everybody."""
        return torch.full((len(logits),), 60 if next(count) % 3 < 2 else END)
    assert blank_arms.filled(model, blank_arms.as_it_is, [[MASK], [51, MASK]], [[1], [1, 2]], choose) == [
        [[60, 60]], [[60, 60]]]


def test_texts_fit_the_network() -> None:
    most = max(len(row.words) + 2 * len(row.spans) for row in blank_test_set.rows("test_set"))
    assert most + 3 * blank_arms.LONGEST < blank_arms.TIME
