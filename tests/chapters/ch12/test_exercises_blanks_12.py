"""The solutions of GLM's exercises against independent ones; other right ways are not refused, slips are named."""

from itertools import chain
from random import Random

import pytest
import torch
from torch import Tensor, nn

from plmlab.chapters.ch12 import exercises_blanks as right
from plmlab.decode import greedy
from plmlab.draws import randint, shuffled
from plmlab.example import IGNORE, Batch, Example
from plmlab.exercises import case, check
from plmlab.exercises.exercise import Exercise
from plmlab.models.glm import GLMConfig, GLMPretraining
from plmlab.models.infilling import BlankInfiller
from plmlab.objectives.blanks import blank_infilling, part_a_and_b
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)
MASK, START, END = 4, 5, 6
FILLING: Exercise = right.EXERCISES[1]


# What a GLM reads

def test_what_is_read_is_the_papers_figure() -> None:
    """Du et al. 2022, fig. 2: spans [x3] and [x5, x6] of x1 … x6, the second filled first."""
    tokens, position_ids, targets = right.parts_a_and_b([51, 52, 53, 54, 55, 56], [[2, 3], [4, 6]], [1, 0])
    assert tokens.tolist() == [51, 52, MASK, 54, MASK, START, 55, 56, START, 53]
    assert position_ids.tolist() == [[1, 2, 3, 4, 5, 5, 5, 5, 3, 3], [0, 0, 0, 0, 0, 1, 2, 3, 1, 2]]
    assert targets.tolist() == [*[IGNORE] * 5, 55, 56, END, 53, END]


def drawn(rng: Random) -> tuple[list[int], list[list[int]], list[int]]:
    """A text, spans that may touch, one word or more each, and an order."""
    count = 1 + randint(rng, 12)
    ends = sorted(randint(rng, count + 1) for _ in range(2 * (1 + randint(rng, 4))))
    spans = [[begin, end] for begin, end in zip(ends[::2], ends[1::2], strict=True) if begin < end]
    return [40 + randint(rng, 20) for _ in range(count)], spans, shuffled(rng, range(len(spans)))


def test_what_is_read_is_the_objectives() -> None:
    for seed in range(200):
        tokens, spans, order = drawn(Random(seed))
        example = blank_infilling(tokens, vocab=VOCAB, rng=Random(0), spans=[(b, e) for b, e in spans], order=order)
        for mine, theirs in zip(right.parts_a_and_b(tokens, spans, order),
                                (example.tokens, example.position_ids, example.targets), strict=True):
            assert torch.equal(mine, theirs) and mine.dtype == torch.long


def test_the_text_can_be_had_back_from_what_is_read() -> None:
    """The first position says where a word belongs, and the second in which order."""
    for seed in range(50):
        tokens, spans, order = drawn(Random(seed))
        read, position_ids, _ = right.parts_a_and_b(tokens, spans, order)
        positions = sorted(zip(*position_ids.tolist(), read.tolist(), strict=True))
        assert [token for _, _, token in positions if token not in (MASK, START)] == tokens


# How blanks are filled

@pytest.fixture(scope="module")
def model() -> GLMPretraining:
    """In float64, every weight large enough to matter; what is said differs from position to position, and [END] is
    likely."""
    torch.manual_seed(5)
    made = GLMPretraining(GLMConfig(60, time=24, layers=2, model=12, heads=3, inner=20, dropout=0.0,
                                    attention_dropout=0.0)).double().eval()
    for place, weight in made.named_parameters():
        spread = 4.0 if "in_blank" in place else 1.0 if "embeddings" in place else 0.4
        nn.init.normal_(weight, mean=float(place.endswith("norm.weight")), std=spread)
    with torch.no_grad():
        end = made.encoder.embeddings.token.weight[END]
        end *= 3
        made.encoder.final_norm.bias += 0.2 * end
    return made


TEXTS = [([40, MASK, 42, 43, MASK, 45], [1, 0]), ([MASK], [0]), ([50, 51, MASK, MASK], [0, 1]),
         ([MASK, 46, 47, MASK, 48, MASK], [1, 2, 0]), ([MASK, 46, 47, 48, 49], [0])]


@torch.no_grad()
@pytest.mark.parametrize(("text", "order"), TEXTS)
def test_a_real_glm_fills_as_with_the_filler(model, text: list[int], order: list[int]) -> None:
    """The exercise's reads all anew for each word; the filler keeps keys and values."""
    def logits(tokens: list[int], position_ids: list[list[int]]) -> Tensor:
        begins = [position for position, place in enumerate(position_ids[1]) if place == 1]
        visible = part_a_and_b(begins[0], [end - begin for begin, end in zip(
            begins, [*begins[1:], len(tokens)], strict=True)])
        example = Example(torch.tensor(tokens), torch.tensor(position_ids), torch.zeros(len(tokens), dtype=torch.long),
                          visible, torch.full((len(tokens),), IGNORE))
        said = model(Batch.of([example], pad=0))[0]
        said[:, [token for token in VOCAB.special if token != END]] = float("-inf")
        return said

    filler = BlankInfiller(model, [text], VOCAB, [order])
    (written,) = greedy(filler, filler.prompt, VOCAB, length=60, banned=filler.banned)
    assert len(written.tokens) < 60
    assert right.fill_in_order(logits, text, order).tolist() == filler.filled(0, written.tokens)


@pytest.mark.parametrize("name", [name for name in FILLING.probes() if "empty" not in name])
def test_what_is_filled_in_is_what_each_position_says_of_the_whole(name: str) -> None:
    """Read in one pass, as in training: the likeliest of every position is its target."""
    logits, text, order = FILLING.probes()[name]
    filled, spans = right.fill_in_order(logits, text, order).tolist(), spans_of(logits, text, order)
    tokens, position_ids, targets = right.parts_a_and_b(filled, spans, order)
    asked = targets != IGNORE
    assert tokens[~asked].tolist() == text
    assert torch.equal(logits(tokens, position_ids).argmax(1)[asked], targets[asked])


def spans_of(logits, text: list[int], order: list[int]) -> list[list[int]]:
    """Where the words of each blank stand in the filled text: told by how many positions are asked."""
    asked: list[int] = []

    def counted(tokens, position_ids):
        asked.append(position_ids[0][-1])
        return logits(tokens, position_ids)

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

    def kept(tokens, position_ids):
        said = logits(tokens, position_ids)
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


# Other right ways, and slips, as people write them

def collated(tail=True):
    """Part A and the blanks in one loop, then Part B in another; everything is a list until the end."""
    def answer(tokens, spans, order):
        part_a, blanks, last = [], [], 0
        for begin, end in spans:
            part_a += tokens[last:begin]
            blanks.append((tokens[begin:end], len(part_a) + 1))
            part_a.append(4)
            last = end
        part_a += tokens[last:] if tail else []
        ids, pos1, pos2 = [*part_a], [*range(1, len(part_a) + 1)], [0] * len(part_a)
        labels = [-100] * len(part_a)
        for n in order:
            words, at = blanks[n]
            ids += [5, *words]
            pos1 += [at] * (len(words) + 1)
            pos2 += range(1, len(words) + 2)
            labels += [*words, 6]
        return torch.tensor(ids), torch.tensor([pos1, pos2]), torch.tensor(labels)
    return answer


def made_by_walking(tokens, spans, order):
    """Token by token; a span is jumped over."""
    ends, part_a, mask_at, i = dict(spans), [], {}, 0
    while i < len(tokens):
        part_a.append(4 if i in ends else tokens[i])
        mask_at[i] = len(part_a)
        i = ends.get(i, i + 1)
    rows = [(token, place, 0, -100) for place, token in enumerate(part_a, start=1)]
    for n in order:
        begin, end = spans[n]
        rows.append((5, mask_at[begin], 1, tokens[begin]))
        for i in range(begin, end):
            rows.append((tokens[i], mask_at[begin], i - begin + 2, tokens[i + 1] if i + 1 < end else 6))
    token, first, second, target = map(list, zip(*rows, strict=True))
    return torch.tensor(token), torch.tensor([first, second]), torch.tensor(target)


def made_from_the_back(tokens, spans, order):
    """The last span is cut out first, so that the others stay where they are."""
    part_a = list(tokens)
    for begin, end in spans[::-1]:
        part_a[begin:end] = [4]
    places = [i + 1 for i in range(len(part_a)) if part_a[i] == 4]
    spoken = [tokens[a:b] for a, b in spans]
    part_b = [[5] + spoken[n] for n in order]
    labels = [spoken[n] + [6] for n in order]
    read = torch.tensor(part_a + list(chain(*part_b)))
    first = torch.cat([torch.arange(len(part_a)) + 1, *[torch.full((len(spoken[n]) + 1,), places[n]) for n in order]])
    second = torch.cat([torch.zeros(len(part_a), dtype=torch.int64), *[torch.arange(len(b)) + 1 for b in part_b]])
    return [read, torch.stack((first, second)), torch.tensor([-100] * len(part_a) + list(chain(*labels)))]


def masks_by_turn(tokens, spans, order):
    read, position_ids, targets = collated()(tokens, spans, order)
    masks = (read == 4).nonzero().flatten() + 1
    turn = (position_ids[1] == 1).cumsum(0) - 1
    position_ids[0] = torch.where(position_ids[1] > 0, masks[turn], position_ids[0])
    return read, position_ids, targets


def unshifted(tokens, spans, order):
    read, position_ids, _ = collated()(tokens, spans, order)
    return read, position_ids, torch.where(position_ids[1] > 0, read, -100)


def generated(begin_anew=False, keep_end=False, one_by_one=False, table=lambda logits: logits):
    """The token is asked, and then joined to three lists."""
    def answer(logits, text, order):
        masks, words = [i for i, token in enumerate(text) if token == 4], {}
        ids, pos1, pos2 = list(text), list(range(1, len(text) + 1)), [0] * len(text)
        for n in order:
            words[n], token = [], 5
            if begin_anew:
                ids, pos1, pos2 = list(text), list(range(1, len(text) + 1)), [0] * len(text)
            while token != 6:
                ids.append(token)
                pos1.append(masks[n] + 1)
                pos2.append(len(words[n]) + 1)
                token = int(table(logits(ids, [pos1, pos2]))[-1].argmax())
                words[n] += [token] if token != 6 or keep_end else []
        out = list(text)
        for n in words if one_by_one else sorted(words, reverse=True):
            out[masks[n]:masks[n] + 1] = words[n]
        return torch.tensor(out)
    return answer


def filled_with_tensors(logits, text, order):
    read = torch.tensor(text)
    where = torch.stack([torch.arange(len(text)) + 1, torch.zeros(len(text), dtype=torch.long)])
    places = (read == 4).nonzero()[:, 0] + 1
    words = {}
    for n in order:
        said, words[n] = torch.tensor([5]), []
        for count in range(1, 90):
            read = torch.cat([read, said])
            where = torch.cat([where, torch.tensor([[int(places[n])], [count]])], dim=1)
            said = logits(read, where).softmax(-1)[-1:].argmax(-1)
            if said == 6:
                break
            words[n].append(said.item())
    left = iter(sorted(words))
    return torch.tensor(list(chain.from_iterable(words[next(left)] if t == 4 else [t] for t in text)))


def filled_by_recursion(logits, text, order):
    masks = [i for i, token in enumerate(text) if token == 4]

    def say(part_b, words, n):
        part_b = [*part_b, (words[-1] if words else 5, masks[n] + 1, len(words) + 1)]
        tokens, first, second = zip(*part_b, strict=True)
        table = logits([*text, *tokens], [[*range(1, len(text) + 1), *first], [0] * len(text) + list(second)])
        word = int(table.log_softmax(1)[-1].topk(1).indices)
        return (part_b, words) if word == 6 else say(part_b, [*words, word], n)

    part_b, found = [], {}
    for n in order:
        part_b, found[masks[n]] = say(part_b, [], n)
    pieces = [torch.tensor(found.get(i, [token]), dtype=torch.long) for i, token in enumerate(text)]
    return torch.cat(pieces)


@pytest.mark.parametrize(("number", "answer"), [
    ("12.5", collated()), ("12.5", made_by_walking), ("12.5", made_from_the_back),
    ("12.6", generated()), ("12.6", filled_with_tensors), ("12.6", filled_by_recursion),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


@pytest.mark.parametrize(("number", "answer", "words"), [("12.5", masks_by_turn, "assigned in the order of the text"),
    ("12.5", collated(tail=False), "words after the last span are missing"),
    ("12.5", unshifted, "and [START] is a target: a position"),
    ("12.6", generated(begin_anew=True), "Part B is restarted for each"),
    ("12.6", generated(keep_end=True), "[END] remains in the text"),
    ("12.6", generated(one_by_one=True), "shifts the later positions"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and feedback.mistake and words in repr(feedback), feedback


def test_positions_that_do_not_grow_with_the_tokens_are_told() -> None:
    def forgotten(logits, text, order):
        ids, position_ids = [*text, 5], [list(range(1, len(text) + 1)), [0] * len(text)]
        return logits(ids, position_ids)[-1].argmax()
    feedback = check("12.6", forgotten)
    assert feedback.verdict == "error" and "two lists of positions of the same length" in repr(feedback)


def never_ending(logits, text, order):
    """What is said is never compared with [END]; all is read."""
    ids, pos1, pos2 = [*text], list(range(1, len(text) + 1)), [0] * len(text)
    said = 5
    while True:
        ids.append(said)
        pos1.append(1)
        pos2.append(len(ids) - len(text))
        said = int(logits(ids, [pos1, pos2])[-1].argmax())


def the_largest_of_the_table(logits, text, order):
    """argmax without a row."""
    ids, position_ids = [*text, 5], [[*range(1, len(text) + 1), 1], [0] * len(text) + [1]]
    said = int(logits(ids, position_ids).argmax())
    return logits([*ids, said], [[*position_ids[0], 1], [*position_ids[1], 2]])


def reading_nothing_new(logits, text, order):
    """The same is asked again and again."""
    words = []
    while 6 not in words:
        words.append(int(logits([*text, 5], [[*range(1, len(text) + 1), 1], [0] * len(text) + [1]])[-1].argmax()))
    return torch.tensor(words)


@pytest.mark.parametrize(("answer", "words"), [
    (never_ending, "a position is 100, but no text or blank here is so long. Is the prediction of the last token used"),
    (generated(table=lambda logits: logits.softmax(0)), "do softmax and argmax go over the vocabulary, the last axis"),
    (the_largest_of_the_table, r"was given, but the vocabulary ends with 29. Is the argmax taken over one row"),
    (reading_nothing_new, "the model was called 500 times, more than any text needs. Is each predicted token"),
])
def test_who_never_ends_is_told_so(answer, words: str) -> None:
    logits, text, order = case("12.6", 1)
    with pytest.raises(ValueError, match=words):
        answer(logits, text, order)
    assert generated()(logits, text, order).tolist() == generated()(*case("12.6", 1)).tolist()


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


def tokens_in_place(tokens, spans, order):
    made = right.parts_a_and_b(tokens, spans, order)
    for begin, end in reversed(spans):
        tokens[begin:end] = [MASK]
    return made


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("12.5", made_other_than(lambda read, where, said: (read, where)), "has 2 parts; 3 were expected"),
    ("12.5", made_other_than(lambda read, where, said: (read, where.T, said)), "art 2 of the output has the shape [5,"),
    ("12.5", made_other_than(lambda read, where, said: (cell(read, 0, 7), where, said)), "not contain every word"),
    ("12.5", made_other_than(lambda read, where, said: (cell(read, 0, 4), where, said)), "have one [MASK] per span"),
    ("12.5", made_other_than(lambda read, where, said: (cell(read, -1, 5), where, said)), "one [START] per span"),
    ("12.5", made_other_than(lambda read, where, said: (read, cell(where, (0, 0), 0), said)), "does not count 1, 2, 3"),
    ("12.5", made_other_than(lambda read, where, said: (read, cell(where, (0, -1), 9), said)), "position of a [MASK]"),
    ("12.5", made_other_than(lambda read, where, said: (read, cell(where, (1, 0), 1), said)), "is not 0 in Part A"),
    ("12.5", made_other_than(lambda read, where, said: (read, cell(where, (1, -1), 1), said)), "is not 1 exactly once"),
    ("12.5", made_other_than(lambda read, where, said: (read, where, cell(said, 0, 7))), "of Part A has a target"),
    ("12.5", made_other_than(lambda read, where, said: (read, where, cell(said, -1, 7))), "[END] is not a target once"),
    ("12.5", made_other_than(lambda read, where, said: (read, where, cell(said, -2, 7))), "art 3 of the output, at"),
    ("12.5", tokens_in_place, "`tokens` is changed in place"),
    ("12.6", filled_other_than(lambda filled: cell(filled, 0, 4)), "contains a token that is not a word"),
    ("12.6", filled_other_than(lambda filled: cell(filled, -1, 9)), "after the last blank has changed"),
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
