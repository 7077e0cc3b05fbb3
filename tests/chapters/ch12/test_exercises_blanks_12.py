"""The solutions of GLM's exercises against independent ones; and what is wrong with an answer that no list foresees."""

from random import Random

import pytest
import torch
from torch import Tensor, nn

from plmlab.chapters.ch12 import exercises_blanks as right
from plmlab.decode import greedy
from plmlab.draws import below, shuffled
from plmlab.example import IGNORE, Batch, Example
from plmlab.exercises import case, check
from plmlab.exercises.exercise import Exercise
from plmlab.models.filling import Filler
from plmlab.models.glm import GLMConfig, GLMPretraining
from plmlab.objectives.blanks import blank_infilling, part_a_and_b
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)
MASK, START, END = 4, 5, 6
FILLING: Exercise = right.EXERCISES[1]


# What a GLM reads

def test_what_is_read_is_the_papers_figure() -> None:
    """Du et al. 2022, fig. 2: spans [x3] and [x5, x6] of x1 … x6, the second filled first."""
    tokens, positions, targets = right.parts_a_and_b([51, 52, 53, 54, 55, 56], [[2, 3], [4, 6]], [1, 0])
    assert tokens.tolist() == [51, 52, MASK, 54, MASK, START, 55, 56, START, 53]
    assert positions.tolist() == [[1, 2, 3, 4, 5, 5, 5, 5, 3, 3], [0, 0, 0, 0, 0, 1, 2, 3, 1, 2]]
    assert targets.tolist() == [*[IGNORE] * 5, 55, 56, END, 53, END]


def drawn(rng: Random) -> tuple[list[int], list[list[int]], list[int]]:
    """A text, spans that may touch, one word or more each, and an order."""
    count = 1 + below(rng, 12)
    ends = sorted(below(rng, count + 1) for _ in range(2 * (1 + below(rng, 4))))
    spans = [[begin, end] for begin, end in zip(ends[::2], ends[1::2], strict=True) if begin < end]
    return [40 + below(rng, 20) for _ in range(count)], spans, shuffled(rng, range(len(spans)))


def test_what_is_read_is_the_objectives() -> None:
    for seed in range(200):
        tokens, spans, order = drawn(Random(seed))
        example = blank_infilling(tokens, vocab=VOCAB, rng=Random(0), spans=[(b, e) for b, e in spans], order=order)
        for mine, theirs in zip(right.parts_a_and_b(tokens, spans, order),
                                (example.tokens, example.positions, example.targets), strict=True):
            assert torch.equal(mine, theirs) and mine.dtype == torch.long


def test_the_text_can_be_had_back_from_what_is_read() -> None:
    """The first position says where a word belongs, and the second in which order."""
    for seed in range(50):
        tokens, spans, order = drawn(Random(seed))
        read, positions, _ = right.parts_a_and_b(tokens, spans, order)
        slots = sorted(zip(*positions.tolist(), read.tolist(), strict=True))
        assert [token for _, _, token in slots if token not in (MASK, START)] == tokens


# How blanks are filled

@pytest.fixture(scope="module")
def model() -> GLMPretraining:
    """In float64, every weight large enough to matter; [END] is likely."""
    torch.manual_seed(5)
    made = GLMPretraining(GLMConfig(60, time=24, layers=2, model=12, heads=3, inner=20, dropout=0.0,
                                    attention_dropout=0.0)).double().eval()
    for place, weight in made.named_parameters():
        spread = 1.0 if "embeddings" in place else 0.4
        nn.init.normal_(weight, mean=float(place.endswith("norm.weight")), std=spread)
    with torch.no_grad():
        made.bert.embeddings.token.weight[END] *= 3
    return made


TEXTS = [([40, MASK, 42, 43, MASK, 45], [1, 0]), ([MASK], [0]), ([50, 51, MASK, MASK], [0, 1]),
         ([MASK, 46, 47, MASK, 48, MASK], [1, 2, 0]), ([MASK, 46, 47, 48, 49], [0])]


@torch.no_grad()
@pytest.mark.parametrize(("text", "order"), TEXTS)
def test_a_real_glm_fills_as_with_the_filler(model, text: list[int], order: list[int]) -> None:
    """The exercise's reads all anew for each word; the filler keeps keys and values."""
    def logits(tokens: list[int], positions: list[list[int]]) -> Tensor:
        begins = [slot for slot, place in enumerate(positions[1]) if place == 1]
        visible = part_a_and_b(begins[0], [end - begin for begin, end in zip(
            begins, [*begins[1:], len(tokens)], strict=True)])
        example = Example(torch.tensor(tokens), torch.tensor(positions), torch.zeros(len(tokens), dtype=torch.long),
                          visible, torch.full((len(tokens),), IGNORE))
        said = model(Batch.of([example], pad=0))[0]
        said[:, [token for token in VOCAB.special if token != END]] = float("-inf")
        return said

    filler = Filler(model, [text], VOCAB, [order])
    (written,) = greedy(filler, filler.prompt, VOCAB, length=60, banned=filler.banned)
    assert len(written.tokens) < 60
    assert right.fill_in_order(logits, text, order).tolist() == filler.filled(0, written.tokens)


@pytest.mark.parametrize("name", [name for name in FILLING.probes() if "empty" not in name])
def test_what_is_filled_in_is_what_each_slot_says_of_the_whole(name: str) -> None:
    """Read in one pass, as in training: the likeliest of every slot is its target."""
    logits, text, order = FILLING.probes()[name]
    filled, spans = right.fill_in_order(logits, text, order).tolist(), spans_of(logits, text, order)
    tokens, positions, targets = right.parts_a_and_b(filled, spans, order)
    asked = targets != IGNORE
    assert tokens[~asked].tolist() == text
    assert torch.equal(logits(tokens, positions).argmax(1)[asked], targets[asked])


def spans_of(logits, text: list[int], order: list[int]) -> list[list[int]]:
    """Where the words of each blank stand in the filled text: told by how many slots are asked."""
    asked: list[int] = []

    def counted(tokens, positions):
        asked.append(positions[0][-1])
        return logits(tokens, positions)

    right.fill_in_order(counted, text, order)
    spans, behind = [], 0
    for place, token in enumerate(text, 1):
        words = asked.count(place) - 1 if token == MASK else 1
        if token == MASK:
            spans.append([behind, behind + words])
        behind += words
    return spans


@pytest.mark.parametrize("name", list(FILLING.probes()))
def test_the_likeliest_is_so_by_far(name: str) -> None:
    """Another machine's rounding fills no blank otherwise."""
    logits, text, order = FILLING.probes()[name]
    margins = []

    def kept(tokens, positions):
        said = logits(tokens, positions)
        best, second = said[-1].topk(2).values
        margins.append(float(best - second))
        return said

    right.fill_in_order(kept, text, order)
    assert min(margins) > 0.05


def test_one_blank_stays_empty_beside_one_that_does_not() -> None:
    logits, text, order = FILLING.probes()["a blank that stays empty"]
    assert sorted(end - begin for begin, end in spans_of(logits, text, order)) == [0, 2]


def test_what_the_model_cannot_read_as_one_text_is_told() -> None:
    with pytest.raises(ValueError, match=r"one text: .* \[3\] and \[2, 2\]"):
        right.LittleGLM(8, 1)([4, 7, 5], [[1, 2], [0, 0]])


# Wrong in other words

def made_other_than(change):
    def answer(tokens, spans, order):
        return change(*right.parts_a_and_b(tokens, spans, order))
    return answer


def filled_other_than(change):
    return lambda logits, text, order: change(right.fill_in_order(logits, text, order))


def cell(tensor, place, value):
    tensor = tensor.clone()
    tensor[place] = value
    return tensor


def text_in_place(logits, text, order):
    filled = right.fill_in_order(logits, text, order)
    text[text.index(MASK)] = 7
    return filled


def tokens_in_place(tokens, spans, order):
    made = right.parts_a_and_b(tokens, spans, order)
    for begin, end in reversed(spans):
        tokens[begin:end] = [MASK]
    return made


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("12.5", made_other_than(lambda read, where, said: (read, where)), "has 2 parts; 3 were expected"),
    ("12.5", made_other_than(lambda read, where, said: (read.tolist(), where, said)), "art 1 of the output is [41"),
    ("12.5", made_other_than(lambda read, where, said: (read, where.T, said)), "art 2 of the output has the shape [5,"),
    ("12.5", made_other_than(lambda read, where, said: (read, where.float(), said)), "holds float32 numbers"),
    ("12.5", made_other_than(lambda read, where, said: (read, where[0], said)), "has the shape [5]; expected was [2,"),
    ("12.5", made_other_than(lambda read, where, said: (read[None], where, said)), "has the shape [1, 5]"),
    ("12.5", made_other_than(lambda read, where, said: (cell(read, 0, 7), where, said)), "words of the text do not"),
    ("12.5", made_other_than(lambda read, where, said: (cell(read, 0, 4), where, said)), "not as many [MASK]s as"),
    ("12.5", made_other_than(lambda read, where, said: (cell(read, -1, 5), where, said)), "not as many [START]s as"),
    ("12.5", made_other_than(lambda read, where, said: (read, cell(where, (0, 0), 0), said)), "does not count 1, 2, 3"),
    ("12.5", made_other_than(lambda read, where, said: (read, cell(where, (0, -1), 9), said)), "place of a [MASK]"),
    ("12.5", made_other_than(lambda read, where, said: (read, cell(where, (1, 0), 1), said)), "is not 0 in Part A"),
    ("12.5", made_other_than(lambda read, where, said: (read, cell(where, (1, -1), 1), said)), "is not 1 once in each"),
    ("12.5", made_other_than(lambda read, where, said: (read, where, cell(said, 0, 7))), "of Part A has a target"),
    ("12.5", made_other_than(lambda read, where, said: (read, where, cell(said, -1, 7))), "[END] is not said once of"),
    ("12.5", made_other_than(lambda read, where, said: (read, where, cell(said, -2, 7))), "art 3 of the output, at"),
    ("12.5", tokens_in_place, "`tokens` is changed in place"),
    ("12.6", text_in_place, "`text` is changed in place"),
    ("12.6", filled_other_than(Tensor.tolist), "expected was a tensor [4]"),
    ("12.6", filled_other_than(lambda filled: filled[1:]), "has the shape [3]; expected was [4]"),
    ("12.6", filled_other_than(lambda filled: filled.float()), "holds float32 numbers"),
    ("12.6", filled_other_than(lambda filled: cell(filled, 0, 4)), "a token stands there that is no word"),
    ("12.6", filled_other_than(lambda filled: cell(filled, -1, 9)), "behind the last blank is not as it was"),
    ("12.6", filled_other_than(lambda filled: cell(filled, 0, 9) if filled[0] == 26 else filled), "efore the first"),
    ("12.6", filled_other_than(lambda filled: cell(filled, 1, 9)), "At [1]: yours is 9"),
])
def test_what_is_wrong_is_said(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words.lower() in repr(feedback).lower(), feedback


def test_an_input_can_be_read() -> None:
    """Spans are lists, so that the feedback shows them."""
    assert case("12.5", 2)[1] == [[2, 3], [4, 6]]
    assert "spans = [[1, 2]], order = [0]" in repr(check("12.5", made_other_than(lambda read, where, said: (
        read, where, said + 1))))
