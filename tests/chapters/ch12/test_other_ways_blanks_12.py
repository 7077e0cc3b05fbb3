"""Other right ways to solve GLM's exercises, which are not refused."""

from itertools import chain

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from plmlab.exercises import check


def made_by_walking(tokens, spans, order):
    """Token by token; a span is jumped over."""
    ends, part_a, mask_at, i = dict(spans), [], {}, 0
    while i < len(tokens):
        if i in ends:
            part_a.append(4)
            mask_at[i] = len(part_a)
            i = ends[i]
        else:
            part_a.append(tokens[i])
            i += 1
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


def made_with_numpy(tokens, spans, order):
    ids, hidden = np.array(tokens), np.zeros(len(tokens), dtype=bool)
    for begin, end in spans:
        hidden[begin + 1:end] = True
    kept = ids.copy()
    kept[[begin for begin, _ in spans]] = 4
    kept, places = kept[~hidden], np.cumsum(~hidden)
    lengths = [spans[n][1] - spans[n][0] + 1 for n in order]
    read = np.concatenate([kept, *[np.r_[5, ids[slice(*spans[n])]] for n in order]])
    targets = np.concatenate([np.full(len(kept), -100), *[np.r_[ids[slice(*spans[n])], 6] for n in order]])
    first = np.concatenate([np.arange(1, len(kept) + 1), np.repeat([places[spans[n][0]] for n in order], lengths)])
    second = np.concatenate([np.zeros(len(kept), dtype=np.int64), *[np.arange(1, n + 1) for n in lengths]])
    return torch.from_numpy(read), torch.from_numpy(np.stack([first, second])), torch.from_numpy(targets)


def made_by_shifting(tokens, spans, order):
    """[END] is put in Part B, and taken off again: inputs are all but the last of a span, targets all but the first."""
    part_a, at, last = [], [], 0
    for begin, end in spans:
        part_a.extend(tokens[last:begin])
        at.append(len(part_a) + 1)
        part_a.append(4)
        last = end
    part_a.extend(tokens[last:])
    whole = [torch.tensor([5, *tokens[spans[n][0]:spans[n][1]], 6]) for n in order]
    read = torch.cat([torch.tensor(part_a), *(w[:-1] for w in whole)])
    targets = torch.full_like(read, -100)
    targets[len(part_a):] = torch.cat([w[1:] for w in whole])
    positions = torch.zeros(2, len(read), dtype=torch.long)
    positions[0, :len(part_a)] = torch.arange(1, len(part_a) + 1)
    slot = len(part_a)
    for n, w in zip(order, whole, strict=True):
        positions[0, slot:slot + len(w) - 1] = at[n]
        positions[1, slot:slot + len(w) - 1] = torch.arange(1, len(w))
        slot += len(w) - 1
    return read, positions, targets


def filled_with_a_flag(logits, text, order):
    fillings = [[] for _ in order]
    read, where = list(text), [list(range(1, 1 + len(text))), [0 for _ in text]]
    places = [i for i, t in enumerate(text) if t == 4]
    for n in order:
        read.append(5)
        where[0].append(places[n] + 1)
        where[1].append(1)
        while True:
            word = torch.argmax(logits(read, where)[-1]).item()
            if word == 6:
                break
            fillings[n].append(word)
            read.append(word)
            where[0].append(places[n] + 1)
            where[1].append(where[1][-1] + 1)
    out, n = [], 0
    for t in text:
        if t == 4:
            out += fillings[n]
            n += 1
        else:
            out.append(t)
    return torch.tensor(out)


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


def filled_from_the_back(logits, text, order):
    """The last blank is put in first, so that the others stay where they are."""
    spoken, tokens, first, second = {}, [*text], [*range(1, len(text) + 1)], [0] * len(text)
    masks = [i for i, token in enumerate(text) if token == 4]
    for n in order:
        begin = len(tokens)
        tokens, first, second = [*tokens, 5], [*first, masks[n] + 1], [*second, 1]
        while (word := int(logits(tokens, torch.tensor([first, second]))[-1].argmax())) != 6:
            tokens, first, second = [*tokens, word], [*first, first[-1]], [*second, second[-1] + 1]
        spoken[n] = tokens[begin + 1:]
    out = [*text]
    for n in sorted(order, reverse=True):
        out[masks[n]:masks[n] + 1] = spoken[n]
    return pad_sequence([torch.tensor(out)], batch_first=True)[0]


@pytest.mark.parametrize(("number", "answer"), [
    ("12.5", made_by_walking), ("12.5", made_from_the_back), ("12.5", made_with_numpy), ("12.5", made_by_shifting),
    ("12.6", filled_with_a_flag), ("12.6", filled_with_tensors), ("12.6", filled_by_recursion),
    ("12.6", filled_from_the_back),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
