"""Validation of the Vector Lab's inputs, with error messages for the user."""

from collections.abc import Mapping, Sequence

import torch

from plmlab.vectors import WordVectors

MOST_BYTES = 40_000_000
MOST_WORDS = 65_535
MOST_GROUPS = 7
"""Number of colours and marks that can be distinguished."""

Snapshots = dict[int, WordVectors]


def snapshots(vectors: WordVectors | Mapping[int, WordVectors]) -> Snapshots:
    """Convert the input to a sorted mapping from update to vectors; a single set of vectors becomes update 0. Raises
    TypeError or ValueError if the vectors cannot be drawn."""
    given = {0: vectors} if isinstance(vectors, WordVectors) else vectors
    if not isinstance(given, Mapping):
        raise TypeError("vectors must be WordVectors, or a mapping from training updates to WordVectors; "
                        f"{type(vectors).__name__} was given")
    if not given:
        raise ValueError("there are no vectors to show: the mapping from updates to WordVectors is empty")
    for update, each in given.items():
        if isinstance(update, bool) or not isinstance(update, int) or update < 0:
            raise ValueError("the key of a snapshot is its update, a non-negative integer; "
                             f"{update!r:.60} was given")
        if not isinstance(each, WordVectors):
            raise TypeError(f"the vectors at update {update:,} are {type(each).__name__}; they must be WordVectors")
        _drawable(each, f" at update {update:,}" if len(given) > 1 else "")
    ordered = {update: given[update] for update in sorted(given)}
    _alike(ordered)
    last = next(reversed(ordered.values()))
    size = 2 * len(ordered) * last.matrix.numel()
    if size > MOST_BYTES or len(last) > MOST_WORDS:
        raise ValueError(f"{len(ordered)} snapshots of {len(last):,} words × {last.matrix.shape[1]} dimensions take "
                         f"{size // 1_000_000:,} MB; a page can hold at most {MOST_BYTES // 1_000_000} MB and "
                         f"{MOST_WORDS:,} words: show fewer snapshots, or only the most frequent words, "
                         "vectors.only(vectors.words[:1500])")
    return ordered


def _drawable(vectors: WordVectors, where: str) -> None:
    count, width = vectors.matrix.shape
    if count < 2:
        raise ValueError(f"there {'is only 1 word' if count else 'are no words'}{where}: neighbours need at least 2 "
                         "words")
    if width < 2:
        raise ValueError(f"the vectors{where} have {width} dimension{'s' * (width != 1)}; a picture has two axes and "
                         "needs at least 2")
    bad = ~vectors.matrix.isfinite().all(-1)
    if bad.any():
        word = vectors.words[int(bad.nonzero()[0, 0])]
        raise ValueError(f"the vector of {word!r:.60}{where} is not finite (nan or inf): training may have diverged")
    if not torch.any(vectors.matrix):
        raise ValueError(f"all vectors{where} are zero, so they have no directions to compare")


def _alike(ordered: Snapshots) -> None:
    """Check that snapshots have the same words, in the same order, and the same dimension. Raises ValueError if not."""
    (first, reference), *others = ordered.items()
    for update, other in others:
        if other.words != reference.words:
            unmatched = next((a for a in reference.words if a not in other.row), None) or next(
                (b for b in other.words if b not in reference.row), None)
            reason = "the order differs" if unmatched is None else f"{unmatched!r:.60} is in only one of them"
            raise ValueError(f"the snapshots at updates {first:,} and {update:,} must have the same words in the same "
                             f"order: {reason}")
        if other.matrix.shape != reference.matrix.shape:
            raise ValueError(f"the vectors at update {first:,} have {reference.matrix.shape[1]} dimensions, those at "
                             f"update {update:,} have {other.matrix.shape[1]}: all snapshots must come from one "
                             "training run")


def groups_of(groups: Mapping[str, Sequence[str]], vectors: WordVectors) -> dict[str, list[int]]:
    """Map the name of each group to its rows. Raises ValueError for an unknown word, a word in two groups, or too many
    groups."""
    if len(groups) > MOST_GROUPS:
        raise ValueError(f"{len(groups)} groups are too many to distinguish by colour and mark: give at most "
                         f"{MOST_GROUPS}")
    rows: dict[str, list[int]] = {}
    owner: dict[str, str] = {}
    for name, words in groups.items():
        if isinstance(words, str):
            raise TypeError(f"the group {name!r:.60} must be a list of words; the string {words!r:.60} was given")
        rows[str(name)] = [vectors.place(word) for word in dict.fromkeys(words)]
        for word in dict.fromkeys(words):
            if word in owner:
                raise ValueError(f"{word!r:.60} is in the groups {owner[word]!r:.60} and {name!r:.60}: a word can have "
                                 "only one colour")
            owner[word] = name
    return rows


def counts_of(counts: Sequence[int] | None, vectors: WordVectors) -> list[int] | None:
    """The word counts. Raises ValueError if the number of counts differs from the number of words, or if a count is
    negative."""
    if counts is None:
        return None
    values = [int(count) for count in counts]
    if len(values) != len(vectors):
        raise ValueError(f"{len(values):,} counts were given for {len(vectors):,} words: give one per word, in the "
                         "order of the vectors")
    if values and min(values) < 0:
        word = vectors.words[values.index(min(values))]
        raise ValueError(f"the count of {word!r:.60} is {min(values)}: counts must be at least 0")
    return values


def twins_of(twins: Sequence[WordVectors], vectors: WordVectors) -> tuple[WordVectors, ...]:
    """The vectors from other seeds. Raises TypeError for other types, and ValueError if a set lacks a word or cannot be
    drawn."""
    if isinstance(twins, WordVectors):
        raise TypeError("twins must be a list of WordVectors, one per additional seed; write twins=[vectors]")
    for i, twin in enumerate(twins):
        if not isinstance(twin, WordVectors):
            raise TypeError(f"twin {i} is {type(twin).__name__}; twins must be WordVectors trained with other seeds")
        _drawable(twin, f" in twin {i}")
        if missing := next((word for word in vectors.words if word not in twin.row), None):
            raise ValueError(f"twin {i} has no vector of {missing!r:.60}: twins must have vectors of the same words")
    return tuple(twins)


def known(words: Sequence[str], vectors: WordVectors, what: str) -> list[str]:
    """Check that each word has a vector. Raises ValueError, naming the word and the argument ``what``, otherwise."""
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"{what}: a word must be a string; {word!r:.60} was given")
        try:
            vectors.place(word)
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from None
    return list(words)


def analogy_of(analogy: Sequence[str], vectors: WordVectors) -> list[str]:
    """Check an analogy: ``[a, b, c]``, ``[a, b, c, d]`` or ``[]``. Raises ValueError for another number of words, or
    for an unknown word."""
    if isinstance(analogy, str) or len(analogy) not in (0, 3, 4):
        raise ValueError(f"an analogy has three words (a, b, c), or four with the correct answer; "
                         f"{analogy!r:.60} was given")
    return known(analogy, vectors, "analogy")


def axes_of(axes: Sequence[Sequence[str]], vectors: WordVectors) -> list[list[str]]:
    """Check the axes: two pairs of words, or none for the principal axes. Raises ValueError for another shape, an
    unknown word, or an axis from a word to itself."""
    pairs = [] if isinstance(axes, str) else [list(pair) if not isinstance(pair, str) else [pair] for pair in axes]
    if (axes and not pairs) or len(pairs) not in (0, 2) or any(len(pair) != 2 for pair in pairs):
        raise ValueError("axes must be two pairs of words, ((from, to), (from, to)), or None for principal axes; "
                         f"{axes!r:.60} was given")
    for start, end in pairs:
        known((start, end), vectors, "axes")
        if torch.equal(vectors.unit[vectors.place(start)], vectors.unit[vectors.place(end)]):
            raise ValueError(f"the axis from {start!r:.60} to {end!r:.60} is undefined: both vectors have the same "
                             "direction")
    return pairs
