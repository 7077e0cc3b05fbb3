"""Slips that people make in the exercises 12.1 and 12.2, written as they write them: each is named as what it is."""

import pytest
import torch

from plmlab.exercises import check

# 12.1

def opened(cut=lambda mask: mask.tril(), rows=lambda source: slice(None), columns=lambda source: slice(source)):
    """A triangle, and a block of it that is opened."""
    def answer(source, target):
        mask = cut(torch.ones(source + target, source + target, dtype=torch.bool))
        mask[rows(source), columns(source)] = True
        return mask
    return answer


def blocks(ss=torch.ones, st=torch.zeros, ts=torch.ones, tt=lambda t, _: torch.ones(t, t).tril(), top=0, bottom=1):
    """Four blocks, joined."""
    def answer(source, target):
        first = torch.cat([ss(source, source), st(source, target)], dim=bottom)
        return torch.cat([first, torch.cat([ts(target, source), tt(target, target)], dim=bottom)], dim=top).bool()
    return answer


def written(target_rows):
    """A table of zeros, the source's square, and then the rows of the target."""
    def answer(source, target):
        mask = torch.zeros(source + target, source + target, dtype=torch.bool)
        mask[:source, :source] = True
        target_rows(mask, source, target)
        return mask
    return answer


def square_only(mask, source, target):
    mask[source:, source:] = torch.ones(target, target).tril().bool()


def from_column_0(mask, source, target):
    mask[source:] = torch.ones(target, source + target, dtype=torch.bool).tril()


def from_column_0_and_source(mask, source, target):
    mask[source:] = torch.ones(target, source + target, dtype=torch.bool).tril()
    mask[source:, :source] = True


def only_cross(mask, source, target):
    mask[source:, :source] = True


def with_next(mask, source, target):
    mask[source:] = torch.ones(target, source + target, dtype=torch.bool).tril(source + 1)


def without_itself(mask, source, target):
    mask[source:] = torch.ones(target, source + target, dtype=torch.bool).tril(source - 1)


def asked_by(rule):
    def answer(source, target):
        i, j = torch.meshgrid(*[torch.arange(source + target)] * 2, indexing="ij")
        return rule(i, j, source)
    return answer


def meshed_as_xy(source, target):
    i, j = torch.meshgrid(*[torch.arange(source + target)] * 2, indexing="xy")
    return (j < source) | (j <= i)


# 12.2

def kinds(both=lambda m: m | True, left=torch.tril, right=torch.triu, pair=lambda m, text: m.tril() | (text == 4),
          real=lambda text: (text != -1) & (text != -1)[:, None], pick=lambda text: text.max()):
    """Text by text, by the kind of its slots."""
    def answer(segments):
        masks = []
        for text in segments:
            ones = torch.ones(len(text), len(text), dtype=torch.bool)
            kind = int(pick(text))
            mask = (both(ones) if kind in (0, 1) else left(ones) if kind == 2 else right(ones) if kind == 3
                    else pair(ones, text))
            masks.append(mask & real(text))
        return torch.stack(masks)
    return answer


def by_key(before=torch.le, free=(0, 1, 4), late=(2, 5), finish=lambda mask, s: mask & (s >= 0).unsqueeze(2),
           on=1):
    """The solution's way, with its parts to be mistaken."""
    def answer(segments):
        key, place = segments.unsqueeze(on), torch.arange(segments.shape[1])
        left = before(place[None, :], place[:, None])
        mask = torch.isin(key, torch.tensor(free)) | torch.isin(key, torch.tensor(late)) & left | (key == 3) & left.T
        return finish(mask, segments)
    return answer


def by_section_1(segments):
    masks = []
    for row in segments:
        slot = torch.arange(len(row))
        query, key = slot[:, None], slot[None, :]
        kind = int(row[0])
        if kind == 2:
            mask = key <= query
        elif kind == 3:
            mask = key >= query
        elif kind == 4:
            mask = (row == 4)[None, :] | (key <= query)
        else:
            mask = torch.ones(len(slot), len(slot), dtype=torch.bool)
        masks.append(mask & (row >= 0)[None, :] & (row >= 0)[:, None])
    return torch.stack(masks)


def same_segment(segments):
    same = segments[:, :, None] == segments[:, None]
    return same & (segments >= 0)[:, None]


def by_number(segments):
    q, k = segments[:, :, None], segments[:, None]
    return (k <= q) & (k != -1)


def by_table(segments):
    """Padding's −1 finds the last mask of the list."""
    ones = torch.ones(segments.shape[1], segments.shape[1], dtype=torch.bool)
    table = [ones, ones, ones.tril(), ones.triu(), ones, ones.tril()]
    return torch.stack([torch.stack([table[s][:, j] for j, s in enumerate(text)], 1) for text in segments.tolist()])


def not_before(segments):
    key, place = segments[:, None], torch.arange(segments.shape[1])
    left = place <= place[:, None]
    return (torch.isin(key, torch.tensor([0, 1, 4])) | torch.isin(key, torch.tensor([2, 5])) & left
            | (key == 3) & ~left) & (segments >= 0)[:, :, None]


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("12.1", opened(rows=lambda source: slice(0, 0)), "his is GPT"),
    ("12.1", lambda source, target: torch.ones(source + target, source + target).bool(), "his is BERT"),
    ("12.1", opened(rows=slice, columns=lambda source: slice(None)), "source sees the target; the target is not"),
    ("12.1", opened(rows=lambda source: slice(source, None), columns=lambda source: slice(None)),
     "lies over the wrong square"),
    ("12.1", opened(cut=lambda mask: mask.tril(-1)), "arget slot does not see itself"),
    ("12.1", opened(cut=lambda mask: mask.tril(1)), "last source slot sees the first of the target"),
    ("12.1", opened(cut=torch.triu), "riangle lies the wrong way over all"),
    ("12.1", opened(columns=lambda source: slice(source + 1)), "first slot of the target counts as source"),
    ("12.1", opened(columns=lambda source: slice(source - 1)), "last slot of the source is not seen"),
    ("12.1", opened(columns=lambda source: slice(0)), "his is GPT"),
    ("12.1", blocks(tt=torch.ones), "arget sees all of itself"),
    ("12.1", blocks(tt=torch.zeros), "sees nothing of itself"),
    ("12.1", blocks(tt=lambda t, _: torch.eye(t)), "of the target only itself"),
    ("12.1", blocks(tt=lambda t, _: torch.ones(t, t).triu()), "triangle lies the wrong way"),
    ("12.1", blocks(tt=lambda t, _: torch.ones(t, t).tril(1)), "sees the one that comes next"),
    ("12.1", blocks(ts=torch.zeros), "target does not see the source; how"),
    ("12.1", blocks(ts=torch.zeros, ss=lambda s, _: torch.ones(s, s).tril()), "and the source reads from left"),
    ("12.1", blocks(ss=lambda s, _: torch.ones(s, s).tril(), tt=torch.ones), "lies over the wrong square"),
    ("12.1", blocks(ss=torch.zeros), "source sees nothing"),
    ("12.1", blocks(ss=lambda s, _: torch.eye(s)), "source slot sees only itself"),
    ("12.1", blocks(st=torch.ones), "source sees the target"),
    ("12.1", blocks(st=lambda s, t: torch.ones(s, t), ts=lambda t, s: torch.zeros(t, s), tt=lambda t, _: torch.ones(
        t, t).triu()), "ows and columns have changed places"),
    ("12.1", written(square_only), "target does not see the source; how"),
    ("12.1", written(from_column_0), "begins at column 0, the source's first"),
    ("12.1", written(from_column_0_and_source), "begins at column 0, where the source stands"),
    ("12.1", written(only_cross), "sees nothing of itself"),
    ("12.1", written(with_next), "sees the one that comes next"),
    ("12.1", written(without_itself), "arget slot does not see itself"),
    ("12.1", asked_by(lambda i, j, source: (i < source) | (j <= i)), "source sees the target"),
    ("12.1", asked_by(lambda i, j, source: (j < source) | (i <= j)), "riangle lies the wrong way over all"),
    ("12.1", asked_by(lambda i, j, source: (j <= source) | (j <= i)), "first slot of the target counts"),
    ("12.1", asked_by(lambda i, j, source: (j < source) | (j < i)), "arget slot does not see itself"),
    ("12.1", asked_by(lambda i, j, source: (j < source) & (j <= i)), "one of them is enough"),
    ("12.1", asked_by(lambda i, j, source: (j >= source) & (j > i)), "rue marks what is blocked"),
    ("12.1", asked_by(lambda i, j, source: j < source | (j <= i)), "needs parentheses: | binds before <"),
    ("12.1", meshed_as_xy, "ows and columns have changed places"),
    ("12.1", lambda source, target: torch.where(opened()(source, target), 0.0, float("-inf")), "holds float32"),
    ("12.2", kinds(pick=lambda text: 0), "ll texts are read in both directions"),
    ("12.2", kinds(pick=lambda text: 2), "ll texts are read from left to right"),
    ("12.2", kinds(right=torch.tril), "egment 3 is read from the left as well"),
    ("12.2", kinds(left=torch.triu), "egment 2 is read from the right as well"),
    ("12.2", kinds(left=torch.triu, right=torch.tril), "egments 2 and 3 have changed places"),
    ("12.2", kinds(pair=lambda ones, text: ones.tril()), "ource reads from left to right too"),
    ("12.2", kinds(pair=lambda ones, text: ones), "ource and target see each other"),
    ("12.2", kinds(pair=lambda ones, text: ones.tril() | (text == 4)[:, None]), "source sees the target, which"),
    ("12.2", kinds(pair=lambda ones, text: (text == 4) | (text == 5)[:, None]), "arget sees all of itself"),
    ("12.2", kinds(pair=lambda ones, text: (text == 4).expand(len(text), -1)), "sees the source, and nothing of its"),
    ("12.2", kinds(pair=lambda ones, text: ones.tril() | (text == 5)), "egments 4 and 5 have changed places"),
    ("12.2", kinds(pair=lambda ones, text: (text == 4) & (text == 4)[:, None] | ones.tril() & (text == 5)),
     "arget does not see the source"),
    ("12.2", kinds(left=lambda m: m.tril(-1), right=lambda m: m.triu(1),
                   pair=lambda m, text: m.tril(-1) | (text == 4)), "here there is an order, a slot does not"),
    ("12.2", kinds(real=lambda text: text != -1), "adding sees the text"),
    ("12.2", kinds(real=lambda text: (text != -1)[:, None]), "though it sees nothing"),
    ("12.2", kinds(real=lambda text: torch.tensor(True)), "adding is seen: its slots"),
    ("12.2", by_key(finish=lambda mask, s: mask), "adding sees the text"),
    ("12.2", by_key(before=torch.lt), "here there is an order, a slot does not see itself"),
    ("12.2", by_key(before=torch.ge), "riangle lies the wrong way in all"),
    ("12.2", by_key(free=(0, 1, 4, 5), late=(2,)), "ource and target see each other"),
    ("12.2", by_key(free=(0, 1), late=(2, 4, 5)), "ource reads from left to right too"),
    ("12.2", by_key(on=2), "query's segment is asked for the key's"),
    ("12.2", by_key(finish=lambda mask, s: (mask & (s >= 0).unsqueeze(2)).mT), "ows and columns have changed"),
    ("12.2", by_key(finish=lambda mask, s: ~(mask & (s >= 0).unsqueeze(2))), "rue marks what is blocked"),
    ("12.2", by_key(finish=lambda mask, s: (mask & (s >= 0).unsqueeze(2)).float()), "holds float32"),
    ("12.2", by_section_1, "first slot, which may be padding"),
    ("12.2", same_segment, "its own segment, and all of it"),
    ("12.2", by_number, "and earlier ones, by their numbers"),
    ("12.2", by_table, "−1 counts from the end of a list"),
    ("12.2", not_before, "before lacks the diagonal"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("12.1", opened()), ("12.1", blocks()), ("12.1", asked_by(lambda i, j, source: (j < source) | (j <= i))),
    ("12.2", kinds()), ("12.2", by_key()),
])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
