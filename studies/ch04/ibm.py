"""IBM model 1 (Brown et al. 1993): which word translates which, counted out of pairs of texts, without a network.

Each word of the target comes from one word of the source, or from none (NULL), each place as likely. The rounds of EM
share every target word among the source words of its text by what is believed so far, and count. With ``pull`` a link
is the weaker the farther it lies from the diagonal, as in Dyer et al. (2013, eq. 1): a rival for texts of several
sentences, in which a word stands more than once.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import exp

from plmlab.world.datasets.passages import Passage, Words

NULL = "[NULL]"
Table = dict[str, dict[str, float]]
"""Source word → target word → p(target word | source word)."""


def near(target: int, targets: int, source: int, sources: int, pull: float) -> float:
    """How strongly a link is believed for its place alone, from 0 to 1; positions are counted from 0."""
    return exp(-pull * abs((target + 0.5) / targets - (source + 0.5) / sources))


def counted(some: Sequence[Passage], rounds: int, pull: float = 0.0) -> Table:
    """The table after so many rounds of EM, begun with all words alike. ValueError for no passages or no round."""
    if not some or rounds < 1:
        raise ValueError(f"{len(some)} passages and {rounds} rounds were given: at least one of each is needed")
    believed: Table | None = None
    for _ in range(rounds):
        counts: Table = defaultdict(lambda: defaultdict(float))
        for passage in some:
            read = (NULL, *passage.english)
            for place, word in enumerate(passage.chinese):
                shares = [(believed[other].get(word, 0.0) if believed else 1.0)
                          * (near(place, len(passage.chinese), position - 1, len(passage.english), pull) if position
                             else 1.0)
                          for position, other in enumerate(read)]
                total = sum(shares)
                for other, share in zip(read, shares, strict=True):
                    counts[other][word] += share / total
        believed = {other: {word: count / sum(row.values()) for word, count in row.items()}
                    for other, row in counts.items()}
    assert believed is not None
    return believed


def links(table: Table, english: Words, chinese: Words, pull: float = 0.0) -> list[int | None]:
    """For each Chinese word the position of the English word that it most likely comes from, the first of those that
    tie; None where no English word of the text is known to become it."""
    found: list[int | None] = []
    for place, word in enumerate(chinese):
        scores = [table.get(other, {}).get(word, 0.0) * near(place, len(chinese), position, len(english), pull)
                  for position, other in enumerate(english)]
        best = max(scores)
        found.append(scores.index(best) if best else None)
    return found
