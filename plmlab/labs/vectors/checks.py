"""What the Vector Lab can show, and in the reader's words why it cannot show the rest."""

from collections.abc import Mapping, Sequence

import torch

from plmlab.vectors import WordVectors

MOST_BYTES = 40_000_000
MOST_WORDS = 65_535
MOST_GROUPS = 7
"""So many colours and marks can be told apart."""

Snapshots = dict[int, WordVectors]


def snapshots(vectors: WordVectors | Mapping[int, WordVectors]) -> Snapshots:
    """Update → vectors, the earliest first; vectors alone stand at update 0. TypeError or ValueError for what cannot be
    drawn."""
    given = {0: vectors} if isinstance(vectors, WordVectors) else vectors
    if not isinstance(given, Mapping):
        raise TypeError("vectors are WordVectors, or a mapping from updates of training to WordVectors; "
                        f"{type(vectors).__name__} was given")
    if not given:
        raise ValueError("there are no vectors to show: the mapping from updates to WordVectors is empty")
    for update, one in given.items():
        if isinstance(update, bool) or not isinstance(update, int) or update < 0:
            raise ValueError(f"a snapshot is named by its update, a whole number from 0 on; {update!r:.60} was given")
        if not isinstance(one, WordVectors):
            raise TypeError(f"the vectors at update {update:,} are {type(one).__name__}; they must be WordVectors")
        _drawable(one, f" at update {update:,}" if len(given) > 1 else "")
    ordered = {update: given[update] for update in sorted(given)}
    _alike(ordered)
    last = next(reversed(ordered.values()))
    size = 2 * len(ordered) * last.matrix.numel()
    if size > MOST_BYTES or len(last) > MOST_WORDS:
        raise ValueError(f"{len(ordered)} snapshots of {len(last):,} words × {last.matrix.shape[1]} numbers are "
                         f"{size // 1_000_000:,} MB, and a page takes {MOST_BYTES // 1_000_000} MB and {MOST_WORDS:,} "
                         "words at most: show fewer snapshots, or the likeliest words only, "
                         "vectors.only(vectors.words[:1500])")
    return ordered


def _drawable(vectors: WordVectors, where: str) -> None:
    count, width = vectors.matrix.shape
    if count < 2:
        raise ValueError(f"there {'is only 1 word' if count else 'are no words'}{where}: neighbours need 2 words or "
                         "more")
    if width < 2:
        raise ValueError(f"the vectors{where} have {width} number{'s' * (width != 1)} each; a picture has two axes, "
                         "and needs 2 or more")
    bad = ~vectors.matrix.isfinite().all(-1)
    if bad.any():
        word = vectors.words[int(bad.nonzero()[0, 0])]
        raise ValueError(f"the vector of {word!r:.60}{where} holds a number that is not finite (nan or inf): training "
                         "may have diverged; nothing lies near it")
    if not torch.any(vectors.matrix):
        raise ValueError(f"all vectors{where} are zero: nothing lies anywhere")


def _alike(ordered: Snapshots) -> None:
    """A ValueError where snapshots are not of the same words, in the same order and width."""
    (first, one), *others = ordered.items()
    for update, other in others:
        if other.words != one.words:
            apart = next((a for a in one.words if a not in other.row), None) or next(
                (b for b in other.words if b not in one.row), None)
            told = "in another order" if apart is None else f"{apart!r:.60} is in only one of them"
            raise ValueError(f"the snapshots at updates {first:,} and {update:,} must have the same words in the same "
                             f"order: {told}")
        if other.matrix.shape != one.matrix.shape:
            raise ValueError(f"the vectors at update {first:,} have {one.matrix.shape[1]} numbers each, those at "
                             f"update {update:,} {other.matrix.shape[1]}: snapshots come from one training")


def groups_of(groups: Mapping[str, Sequence[str]], vectors: WordVectors) -> dict[str, list[int]]:
    """Name → rows; a ValueError for an unknown word, one in two groups, or more groups than can be told apart."""
    if len(groups) > MOST_GROUPS:
        raise ValueError(f"{len(groups)} groups are more than can be told apart by colour and mark: {MOST_GROUPS} at "
                         "most")
    found: dict[str, list[int]] = {}
    owner: dict[str, str] = {}
    for name, words in groups.items():
        if isinstance(words, str):
            raise TypeError(f"the group {name!r:.60} is a list of words; the text {words!r:.60} was given")
        found[str(name)] = [vectors.place(word) for word in dict.fromkeys(words)]
        for word in dict.fromkeys(words):
            if word in owner:
                raise ValueError(f"{word!r:.60} is in the groups {owner[word]!r:.60} and {name!r:.60}: a word has "
                                 "one colour")
            owner[word] = name
    return found


def counts_of(counts: Sequence[int] | None, vectors: WordVectors) -> list[int] | None:
    """How often each word was read; a ValueError where they are not one a word, or negative."""
    if counts is None:
        return None
    found = [int(count) for count in counts]
    if len(found) != len(vectors):
        raise ValueError(f"{len(found):,} counts were given for {len(vectors):,} words: one a word, in the order of "
                         "the vectors")
    if found and min(found) < 0:
        word = vectors.words[found.index(min(found))]
        raise ValueError(f"{word!r:.60} is counted {min(found)} times: counts are 0 or more")
    return found


def twins_of(twins: Sequence[WordVectors], vectors: WordVectors) -> tuple[WordVectors, ...]:
    """Vectors of other seeds; TypeError, or a ValueError where one lacks a word or cannot be drawn."""
    if isinstance(twins, WordVectors):
        raise TypeError("twins are a list of WordVectors, one for each other seed; write twins=[vectors]")
    for i, twin in enumerate(twins):
        if not isinstance(twin, WordVectors):
            raise TypeError(f"twin {i} is {type(twin).__name__}; twins are WordVectors of other seeds")
        _drawable(twin, f" in twin {i}")
        if missing := next((word for word in vectors.words if word not in twin.row), None):
            raise ValueError(f"twin {i} has no vector of {missing!r:.60}: twins are other seeds' vectors of the same "
                             "words")
    return tuple(twins)


def known(words: Sequence[str], vectors: WordVectors, what: str) -> list[str]:
    """The words, each of which has a vector; a ValueError names the one that has none, and what it was given for."""
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"{what}: a word is a text; {word!r:.60} was given")
        try:
            vectors.place(word)
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from None
    return list(words)


def analogy_of(analogy: Sequence[str], vectors: WordVectors) -> list[str]:
    """``[a, b, c]`` or ``[a, b, c, d]``, or none; a ValueError for another number of words, or an unknown one."""
    if isinstance(analogy, str) or len(analogy) not in (0, 3, 4):
        raise ValueError(f"an analogy is three words (a, b, c), or four with the true answer; "
                         f"{analogy!r:.60} was given")
    return known(analogy, vectors, "analogy")


def axes_of(axes: Sequence[Sequence[str]], vectors: WordVectors) -> list[list[str]]:
    """Two pairs of words, or none for principal axes; a ValueError for another shape, an unknown word, or an axis from
    a word to itself."""
    pairs = [] if isinstance(axes, str) else [list(pair) if not isinstance(pair, str) else [pair] for pair in axes]
    if (axes and not pairs) or len(pairs) not in (0, 2) or any(len(pair) != 2 for pair in pairs):
        raise ValueError("axes are two pairs of words, ((from, to), (from, to)), or None for principal axes; "
                         f"{axes!r:.60} was given")
    for start, end in pairs:
        known((start, end), vectors, "axes")
        if torch.equal(vectors.unit[vectors.place(start)], vectors.unit[vectors.place(end)]):
            raise ValueError(f"an axis from {start!r:.60} to {end!r:.60} leads nowhere: they have one direction")
    return pairs
