"""The long texts of chapter 10, and what is told of readers: by hand, by brute force, by readers who are known."""

import math
from collections import Counter

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.chapters.ch10 import recall_task
from plmlab.checkpoints import load
from plmlab.example import Batch
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.text.words import word_tokenizer
from plmlab.visibility import Visibility
from plmlab.world.datasets.recalls import Recall, RecallText
from studies.ch10.baselines import last_object_accuracy, sliding_window_logits

pytestmark = pytest.mark.usefixtures("few_texts")

TOLD = "Ann played chess . Bob found it . what has Ann played ? the chess . Ann played what ? the chess ."
GAMES = (("the", "chess"), ("the", "golf"))
TWICE = RecallText(tuple(TOLD.split()), (Recall("played", 2, 13, GAMES[0], GAMES),
                                         Recall("played", 14, 20, GAMES[0], GAMES)))
"""The answers' things must be said by positions 13 and 20."""
ALONE = RecallText(("Ann", "drank", "tea", ".", "Ann", "drank", "?", "tea", "."),
                   (Recall("drank", 2, 7, ("tea",), (("tea",), ("milk",), ("wine",))),))


@pytest.fixture(scope="module")
def sizes() -> dict[str, object]:
    """A hundred texts to train on, of all lengths of waiting, and sixty in the exam."""
    return {"TRAIN_SIZE": 100, "TEST_SIZE": 60}


def model_of(**lengths: int) -> TransformerXL:
    torch.manual_seed(1)
    model = TransformerXL(TransformerXLConfig(30, layers=2, model=8, heads=2, inner=12, dropout=0.0, **lengths))
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.5)
    return model.double().eval()


def rows_of(count: int, time: int) -> Tensor:
    return torch.randint(30, (count, time), generator=torch.Generator().manual_seed(time))


# The texts

def test_no_text_of_the_exam_was_read_or_chosen_by() -> None:
    """Nor does any begin as one of those."""
    parts = {part: [text.words for text in recall_task.texts(part)] for part in ("train", "development", "test_set")}
    assert [len(set(parts[part])) for part in ("development", "test_set")] == [60, 60] and len(parts["train"]) == 100
    assert {len(words) for texts in parts.values() for words in texts} == {160}
    for one, other in (("test_set", "train"), ("test_set", "development"), ("development", "train")):
        assert not set(parts[one]) & set(parts[other])
        assert not {words[:20] for words in parts[one]} & {words[:20] for words in parts[other]}


def test_every_word_of_the_exam_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled model has a token for each word of all 4,100 texts that it was trained on."""
    _, kept = load("transformer-xl-world")
    assert set(recall_task.tokenizer().vocab.words) < set(kept.vocab.words)
    monkeypatch.setattr(recall_task, "tokenizer", lambda: kept)
    unknown = kept.vocab.need("unk")
    for part in ("train", "development", "test_set"):
        rows = recall_task.ids(recall_task.texts(part))
        assert rows.shape == (len(recall_task.texts(part)), 160) and not (rows == unknown).any()
    assert recall_task.tokenizer().tokens(rows[7].tolist()) == list(recall_task.texts("test_set")[7].words)
    assert recall_task.tokenizer().encode("xylophones", plain=True) == [unknown]


def test_questions_by_hand() -> None:
    first, second, third = recall_task.questions([TWICE, ALONE])
    assert (first.row, first.position, first.fact, first.distance) == (0, 13, 2, 11)
    assert (second.row, second.position, second.fact, second.distance) == (0, 20, 14, 6)
    assert (third.row, third.position, third.fact, third.distance) == (1, 6, 2, 4)
    assert first.candidates == {"chess", "golf"} and third.candidates == {"tea", "milk", "wine"}


def test_a_question_of_the_exam_points_at_its_answer_and_at_where_it_stood_last() -> None:
    test_set, asked = recall_task.texts("test_set"), list(recall_task.questions(recall_task.texts("test_set")))
    answers = [(row, recall.answer[-1]) for row, text in enumerate(test_set) for recall in text.recalls]
    assert len(asked) == len(answers) > 500
    for question, (row, thing) in zip(asked, answers, strict=True):
        words = test_set[row].words
        assert question.row == row and thing in question.candidates
        assert words[question.position + 1] == words[question.fact] == thing
        assert thing not in words[question.fact + 1:question.position + 1] and question.distance > 0


def test_distances_are_told_in_steps_by_hand() -> None:
    """100 comes after 16 and 32, not between them, and what is farther than 128 is not told."""
    backs = {1: 1.0, 16: 0.0, 17: 1.0, 32: 0.5, 33: 0.25, 100: 0.75, 128: 0.0, 129: 1.0, 150: 1.0}
    asked = [recall_task.Question(0, 5 + back, 5, frozenset()) for back in reversed(backs)]
    told = recall_task.by_distance(asked, list(reversed(backs.values())))
    assert told == {"16": 0.5, "32": 0.75, "48": 0.25, "112": 0.75, "128": 0.0}
    assert list(told) == ["16", "32", "48", "112", "128"]


def test_distances_and_guesses_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distances of 4, 6, 11 and 17; a guess among 2, 4, 4 and 8 candidates; one fact is visible."""
    asked = [recall_task.Question(0, 200, 200 - distance, frozenset(map(str, range(count))))
             for distance, count in ((4, 2), (6, 4), (11, 4), (17, 8))]
    mask = torch.zeros(201, 201, dtype=torch.bool)
    mask[200, 183] = True
    assert recall_task.guessing_loss(asked) == pytest.approx(math.log(2) * (1 + 2 + 2 + 3) / 4)
    assert recall_task.guessing_loss(asked, mask) == pytest.approx(math.log(2) * (1 + 2 + 2) / 4)
    monkeypatch.setattr(recall_task, "questions", lambda some: asked)
    shares = recall_task.distance_shares(())
    assert list(shares) == ["16", "32", "48", "64", "80", "96", "112", "128"] and shares["16"] == 0.75
    assert shares["32"] == 0.25 and sum(shares.values()) == 1


def test_near_accuracy_is_a_mean_over_three_bins_in_each_seed() -> None:
    right = {"16": {"values": [9.0, 9.0]}, "32": {"values": [0.1, 0.4]}, "48": {"values": [0.2, 0.5]},
             "64": {"values": [0.6, 0.9]}, "80": {"values": [9.0, 9.0]}}
    told = recall_task.near_accuracy(right)
    assert told["values"] == pytest.approx([0.3, 0.6]) and told["mean"] == pytest.approx(0.45)
    assert (told["low"], told["high"]) == pytest.approx((0.3, 0.6))


# Batches

def test_every_row_comes_once_before_any_comes_again() -> None:
    rows = rows_of(24, 5)
    rows[:, 0] = torch.arange(24)

    def numbers(turn: int, seed: int = 3) -> list[int]:
        return [int(row[0]) for step in range(6)
                for row in recall_task.training_batch(rows, seed, 6 * turn + step, 4).tokens]

    turns = [numbers(turn) for turn in range(3)]
    assert all(sorted(turn) == list(range(24)) for turn in turns)
    assert turns == [numbers(turn) for turn in range(3)], "same seed, same batches"
    assert len({tuple(turn) for turn in [*turns, numbers(0, seed=4), list(range(24))]}) == 5


def test_a_batch_asks_each_position_for_the_next_word() -> None:
    rows = rows_of(8, 6)
    batch = recall_task.training_batch(rows, 0, 1, 4)
    whole = torch.cat([batch.tokens, batch.targets[:, -1:]], 1)
    assert torch.equal(batch.tokens[:, 1:], batch.targets[:, :-1])
    assert all((rows == row).all(1).any() for row in whole) and batch.visible.only_causal


# Ways to read

@pytest.mark.parametrize(("segment", "memory"), [(4, 0), (4, 5), (50, 0)])
@torch.no_grad()
def test_in_order_is_reading_each_text_for_itself(segment: int, memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And without a memory each segment for itself. The last word is never read."""
    monkeypatch.setattr(recall_task, "EVALUATION_BATCH", 2)
    model, rows = model_of(segment=segment, memory=memory), rows_of(5, 14)
    logits = recall_task.segment_logits(model, rows)
    assert logits.shape == (5, 13, 30)
    for row, found in zip(rows, logits, strict=True):
        state = model.start()
        for begin in range(0, 13, segment):
            part = row[None, begin:min(13, begin + segment)]
            torch.testing.assert_close(model.step(part, state if memory else model.start())[0],
                                       found[min(13, begin + segment) - 1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("window", [1, 4, 13])
@torch.no_grad()
def test_by_windows_each_position_reads_exactly_the_last_words(window: int) -> None:
    """Itself among them; a window less, or a window more, gives others."""
    model, rows = model_of(segment=20, memory=0), rows_of(3, 14)
    logits = sliding_window_logits(model, window, rows)
    assert logits.shape == (3, 13, 30)

    def read(width: int) -> Tensor:
        return torch.stack([model(Batch.continuing(rows[:, max(0, position + 1 - width):position + 1], 0))[:, -1]
                            for position in range(13)], 1)

    torch.testing.assert_close(logits, read(window), rtol=0, atol=1e-10)
    assert not torch.allclose(logits, read(window + 1), atol=1e-3) or window == 13
    assert window == 1 or not torch.allclose(logits, read(window - 1), atol=1e-3)


class Earliest(nn.Module):
    """Says the first word that it was given."""

    def forward(self, batch: Batch) -> Tensor:
        return F.one_hot(batch.tokens[:, :1].expand_as(batch.tokens), 30).float()


# What is said

def spelt(monkeypatch: pytest.MonkeyPatch) -> int:
    words = word_tokenizer(sorted({*TWICE.words, *ALONE.words, "golf", "milk", "wine"}))
    monkeypatch.setattr(recall_task, "tokenizer", lambda: words)
    return len(words)


def test_what_is_said_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """All words cost ln V, but for the answers: that of position 13 is right at ½, that of 20 is wrong at ⅛."""
    size = spelt(monkeypatch)
    chess, golf = (recall_task.tokenizer().id(word) for word in ("chess", "golf"))
    chances = torch.full((1, len(TWICE.words) - 1, size), 1 / size)
    chances[0, 13], chances[0, 20] = 0.5 / (size - 1), 0.125 / (size - 2)
    chances[0, 13, chess], chances[0, 20, chess], chances[0, 20, golf] = 0.5, 0.125, 0.75
    told = recall_task.evaluate(chances.log(), [TWICE])
    assert told.right == {"16": 0.5} and told.answers == pytest.approx((math.log(2) + math.log(8)) / 2, abs=1e-5)
    others = (len(TWICE.words) - 3) * math.log(size)
    assert told.all == pytest.approx((others + math.log(16)) / (len(TWICE.words) - 1), abs=1e-5)


class Knowing(nn.Module):
    """Knows the next word, but for texts that begin with ``ignored``."""

    def __init__(self, ignored: int) -> None:
        super().__init__()
        self.ignored = ignored

    def forward(self, batch: Batch) -> Tensor:
        evaluate = torch.where(batch.tokens[:, :1] == self.ignored, batch.tokens, batch.targets)
        return 50 * F.one_hot(evaluate, len(recall_task.tokenizer())).float()


def test_who_knows_the_next_word_is_right_and_who_repeats_the_last_is_not() -> None:
    some = recall_task.texts("test_set")
    known = recall_task.evaluate(recall_task.segment_logits(Knowing(-1), recall_task.ids(some)), some)
    assert set(known.right.values()) == {1.0} and (known.answers, known.all) == pytest.approx((0, 0), abs=1e-6)
    name, count = Counter(text.words[0] for text in some).most_common()[-1]
    without = Knowing(recall_task.tokenizer().id(name))
    ignored = recall_task.evaluate(recall_task.segment_logits(without, recall_task.ids(some)), some)
    wrong = {row for row, text in enumerate(some) if text.words[0] == name}
    assert len(wrong) == count and ignored.all == pytest.approx(50 * count / 60, rel=0.1)
    for most, share in ignored.right.items():
        rows = [question.row for question in recall_task.questions(some)
                if int(most) - 16 < question.distance <= int(most)]
        assert share == pytest.approx(sum(row not in wrong for row in rows) / len(rows))


# A reader without a network

def guessed(words: tuple[str, ...], position: int, looks: Tensor, things: frozenset[str]) -> str:
    """From the position backwards; where nothing was found, what stands most often in the texts to train on."""
    for at in range(position, -1, -1):
        if words[at] in things and bool(looks[position, at]):
            return words[at]
    often = dict.fromkeys(sorted(things), 0)
    for text in recall_task.texts("train"):
        for word in text.words:
            if word in often:
                often[word] += 1
    return max(often, key=lambda thing: often[thing])


@pytest.mark.parametrize("looks", [torch.zeros(160, 160, dtype=torch.bool), Visibility.causal(160).dense(),
                                   Visibility.segmented(160, 16, 64).dense(), Visibility.last(160, 24).dense()])
def test_the_rule_is_that_of_brute_force(looks: Tensor) -> None:
    some = recall_task.texts("test_set")[:4]
    found: dict[int, list[bool]] = {}
    for question in recall_task.questions(some):
        words = some[question.row].words
        evaluate = guessed(words, question.position, looks, question.candidates)
        found.setdefault(math.ceil(question.distance / 16) * 16, []).append(evaluate == words[question.position + 1])
    assert last_object_accuracy(looks, some) == {
        str(most): pytest.approx(sum(hits) / len(hits)) for most, hits in sorted(found.items()) if most <= 128}
