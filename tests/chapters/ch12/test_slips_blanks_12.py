"""Slips that people make in the exercise 12.5, written as they write them: each is named as what it is."""

import pytest
import torch

from plmlab.exercises import check


def collated(mask=lambda words, n: [4], place=lambda part_a, begin, n: len(part_a) + 1, first=lambda at, n: [at] * n,
             second=lambda n: range(1, n + 1), read=lambda words, n: [5, *words], say=lambda words: [*words, 6],
             turns=lambda order: order, cut=lambda tokens, begin, end: tokens[begin:end], finish=lambda *made: made):
    """Part A and the blanks in one loop, then Part B in another; everything is a list until the end."""
    def answer(tokens, spans, order):
        part_a, blanks, last = [], [], 0
        for n, (begin, end) in enumerate(spans):
            part_a += tokens[last:begin]
            words = cut(tokens, begin, end)
            blanks.append((words, place(part_a, begin, n), n))
            part_a += mask(words, n)
            last = end
        part_a += tokens[last:]
        ids, pos1, pos2 = [*part_a], [*range(1, len(part_a) + 1)], [0] * len(part_a)
        labels = [-100] * len(part_a)
        for n in turns(order):
            words, at, number = blanks[n]
            b = read(words, number)
            ids += b
            pos1 += first(at, len(b))
            pos2 += second(len(b))
            labels += say(words)
        ids, pos1, pos2, labels = finish(ids, pos1, pos2, labels)
        return torch.tensor(ids), torch.tensor([pos1, pos2]), torch.tensor(labels)
    return answer


def in_part_a(change):
    """Something else is done with the four lists of Part A, and of Part B."""
    def finish(ids, pos1, pos2, labels):
        n = pos2.index(1)
        return change([ids[:n], pos1[:n], pos2[:n], labels[:n]], [ids[n:], pos1[n:], pos2[n:], labels[n:]])
    return collated(finish=finish)


def plain_positions(tokens, spans, order):
    read, positions, targets = collated()(tokens, spans, order)
    positions[0] = torch.arange(len(read)) + 1
    return read, positions, targets


def all_at_first_mask(tokens, spans, order):
    read, positions, targets = collated()(tokens, spans, order)
    positions[0, positions[1] > 0] = (read == 4).nonzero()[0, 0] + 1
    return read, positions, targets


def masks_by_turn(tokens, spans, order):
    read, positions, targets = collated()(tokens, spans, order)
    masks = (read == 4).nonzero().flatten() + 1
    turn = (positions[1] == 1).cumsum(0) - 1
    positions[0] = torch.where(positions[1] > 0, masks[turn], positions[0])
    return read, positions, targets


def original_places(tokens, spans, order):
    """All tokens have the number that they had; the [MASK] has that of the first word that it hides."""
    ids, pos1, pos2, labels, hidden = [], [], [], [], dict(spans)
    i = 0
    while i < len(tokens):
        ids.append(4 if i in hidden else tokens[i])
        pos1.append(i + 1)
        i = hidden.get(i, i + 1)
    pos2, labels = [0] * len(ids), [-100] * len(ids)
    for begin, end in [spans[n] for n in order]:
        ids += [5, *tokens[begin:end]]
        pos1 += [begin + 1] * (end - begin + 1)
        pos2 += range(1, end - begin + 2)
        labels += [*tokens[begin:end], 6]
    return torch.tensor(ids), torch.tensor([pos1, pos2]), torch.tensor(labels)


def noted_behind(mask=lambda n: [4], tail=True):
    """The place of a [MASK] is how long Part A is behind it."""
    def answer(tokens, spans, order):
        part_a, places, last = [], [], 0
        for begin, end in spans:
            part_a += tokens[last:begin] + mask(end - begin)
            places.append(len(part_a))
            last = end
        part_a += tokens[last:] if tail else []
        rows = [(token, place, 0, -100) for place, token in enumerate(part_a, 1)]
        for n in order:
            words = tokens[slice(*spans[n])]
            rows += [(token, places[n], place, label) for place, (token, label) in enumerate(
                zip([5, *words], [*words, 6], strict=True), 1)]
        ids, pos1, pos2, labels = torch.tensor(rows).T
        return ids, torch.stack([pos1, pos2]), labels
    return answer


def ends_as_places(too_in_part_a):
    """A span has the number of its last word; in Part A the others have the number that they had."""
    def answer(tokens, spans, order):
        read, positions, targets = collated()(tokens, spans, order)
        places, ends = [], dict(spans)
        while not places or places[-1] < len(tokens):
            last = places[-1] if places else 0
            places.append(ends.get(last, last + 1))
        if too_in_part_a:
            positions[0, :len(places)] = torch.tensor(places)
        positions[0, len(places):] = torch.tensor([end for begin, end in map(spans.__getitem__, order)
                                                   for _ in range(end - begin + 1)])
        return read, positions, targets
    return answer


def of_hugging_face(tokens, spans, order):
    read, positions, _ = collated(read=lambda words, n: [5, *words, 6])(tokens, spans, order)
    return read, positions, torch.where(positions[1] > 0, read, -100)


def unshifted(tokens, spans, order):
    read, positions, _ = collated()(tokens, spans, order)
    return read, positions, torch.where(positions[1] > 0, read, -100)


def shifted_as_a_whole(tokens, spans, order):
    read, positions, _ = collated()(tokens, spans, order)
    following = torch.cat([read[1:], torch.tensor([6])])
    return read, positions, torch.where(positions[1] > 0, following, -100)


def shifted_again(tokens, spans, order):
    read, positions, targets = collated()(tokens, spans, order)
    return read, positions, torch.cat([targets[1:], torch.tensor([-100])])


def replaced_from_the_left(tokens, spans, order):
    read = list(tokens)
    for begin, end in spans:
        read[begin:end] = [4]
    pos1, pos2, labels = list(range(1, len(read) + 1)), [0] * len(read), [-100] * len(read)
    for n in order:
        begin, end = spans[n]
        words = tokens[begin:end]
        read += [5, *words]
        pos1 += [begin + 1] * (len(words) + 1)
        pos2 += range(1, len(words) + 2)
        labels += [*words, 6]
    return torch.tensor(read), torch.tensor([pos1, pos2]), torch.tensor(labels)


@pytest.mark.parametrize(("answer", "words"), [
    (plain_positions, "irst position goes on counting in Part B"),
    (collated(finish=lambda ids, pos1, pos2, labels: (ids, [p - 1 for p in pos1], pos2, labels)), "counted from 0; it"),
    (collated(place=lambda part_a, begin, n: len(part_a)), "as .index and enumerate count"),
    (in_part_a(lambda a, b: [a[0] + b[0], list(range(len(a[0]))) + b[1], a[2] + b[2], a[3] + b[3]]), "Part B from 1"),
    (original_places, "behind a blank tells by it how"),
    (collated(place=lambda part_a, begin, n: begin + 1), "where the span begins in the text"),
    (collated(first=lambda at, n: range(at, at + n)), "goes on from the [MASK], word by word"),
    (all_at_first_mask, "the place of the first [MASK]"),
    (masks_by_turn, "given out in the order of the text"),
    (collated(first=lambda at, n: [0] * n), "irst position is 0 in Part B"),
    (in_part_a(lambda a, b: [a[0] + b[0], a[1] + list(range(1, len(b[0]) + 1)), a[2] + b[2], a[3] + b[3]]),
     "begins again with 1 in Part B"),
    (collated(second=range), "begins with 0 in Part B"),
    (in_part_a(lambda a, b: [a[0] + b[0], a[1] + b[1], a[2] + list(range(1, len(b[0]) + 1)), a[3] + b[3]]),
     "goes on from span to span"),
    (in_part_a(lambda a, b: [a[0] + b[0], a[1] + b[1], a[1] + b[2], a[3] + b[3]]), "counts in Part A too"),
    (collated(second=lambda n: [1] * n), "is 1 in all of Part B"),
    (collated(finish=lambda ids, pos1, pos2, labels: (ids, pos2, pos1, labels)), "rows of positions have changed"),
    (collated(mask=lambda words, n: [4] * len(words)), "a [MASK] for each word, as in BERT"),
    (collated(mask=lambda words, n: [4 for _ in words], first=lambda at, n: [at, *range(at, at + n - 1)]),
     "each word has the place of its own"),
    (noted_behind(mask=lambda n: [4] * n), "the span has the place of the last"),
    (noted_behind(tail=False), "words behind the last span are forgotten"),
    (ends_as_places(too_in_part_a=False), "where the span ends in the text"),
    (ends_as_places(too_in_part_a=True), "the place of its last word in the text"),
    (collated(mask=lambda words, n: []), "no [MASK] in Part A"),
    (collated(mask=lambda words, n: words), "still stand in Part A"),
    (collated(mask=lambda words, n: [7 + n]), "a sentinel of its own, as in T5; in"),
    (collated(mask=lambda words, n: [7 + n], read=lambda words, n: [7 + n, *words]), "in Part A and for [START], as"),
    (collated(read=lambda words, n: [4, *words]), "begins with [MASK] in Part B too"),
    (collated(mask=lambda words, n: [5]), "n Part A [START] stands for a span"),
    (collated(turns=lambda order: range(len(order))), "rder is not kept"),
    (collated(turns=reversed), "rder is turned round"),
    (collated(turns=lambda order: [order.index(n) for n in range(len(order))]), "when its turn is"),
    (collated(cut=lambda tokens, begin, end: tokens[begin:end][::-1]), "words of a span are turned round"),
    (unshifted, "and [START] is said: a slot"),
    (collated(say=lambda words: [-100, *words]), "argets are not shifted: a slot"),
    (collated(say=lambda words: [*words, 6, -100][1:]), "hifted twice: [START] must"),
    (shifted_again, "over the whole row"),
    (collated(say=lambda words: [*words, -100]), "has no target, and how should"),
    (collated(read=lambda words, n: [5, *words[:-1]], say=lambda words: words), "the last word of a span is not read"),
    (shifted_as_a_whole, "says the [START] of the next"),
    (collated(read=lambda words, n: [5, *words, 6], say=lambda words: [*words, 6, -100]), "END] is read too; it"),
    (of_hugging_face, "as labels of Hugging Face's"),
    (collated(read=lambda words, n: words, say=lambda words: [*words[1:], 6]), "START] is forgotten"),
    (collated(read=lambda words, n: [6, *words], say=lambda words: [*words, 5]), "[END] have changed places"),
    (in_part_a(lambda a, b: [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[0] + b[3]]), "Part A has targets too"),
    (in_part_a(lambda a, b: [a[0] + b[0], a[1] + b[1], a[2] + b[2], [*a[0][1:], -100, *b[3]]]), "as in GPT"),
    (in_part_a(lambda a, b: [a[0] + b[0], a[1] + b[1], a[2] + b[2], [0] * len(a[0]) + b[3]]), "arget is 0 in Part A"),
    (in_part_a(lambda a, b: [a[0] + b[0], a[1] + b[1], a[2] + b[2], [-1] * len(a[0]) + b[3]]), "arget is −1 in Part A"),
    (in_part_a(lambda a, b: [a[0] + b[0], a[1] + b[1], a[2] + b[2], b[3]]), "argets of Part A are left out"),
    (in_part_a(lambda a, b: [y + x for x, y in zip(a, b, strict=True)]), "Part B stands before Part A"),
    (replaced_from_the_left, "the text grows shorter"),
    (collated(finish=lambda ids, pos1, pos2, labels: (ids, torch.tensor(pos1).float().tolist(), pos2, labels)),
     "holds float32 numbers"),
])
def test_a_slip_is_named(answer, words: str) -> None:
    feedback = check("12.5", answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize("answer", [collated(), noted_behind(), in_part_a(
    lambda a, b: [x + y for x, y in zip(a, b, strict=True)])])
def test_without_its_slip_each_of_these_ways_is_right(answer) -> None:
    assert check("12.5", answer).ok, check("12.5", answer)
