"""The window of word2vec: say each word from the words around it (上下文窗口)."""

from collections.abc import Sequence
from random import Random

import torch

from plmlab.draws import randint
from plmlab.example import Example
from plmlab.objectives.registry import Choice, objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility


@objective(
    title="words in a window (word2vec)",
    chinese="上下文窗口",
    paper="Mikolov et al. 2013a, §3",
    choices=(Choice("window", "words on each side, at most", 5.0, 1.0, 10.0, 1.0),),
    question="The window is 5. Why does a position often look less far?",
    answer="Each position draws its own reach, from 1 to the window. So a near word is read more often than a far one.",
)
def window(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, window: float = 5.0,
           reach: Sequence[int] | None = None) -> Example:
    """Each position must say its own word, and looks at its neighbours: those at most its reach away, never itself.

    A reach is drawn for each position, from 1 to ``window``; ``reach`` gives them instead. Nothing is added to the
    text. Positions count from 0, though a model of this objective need not read them. CBOW says the word from the mean
    of what it sees, skip-gram from each word that it sees by itself.
    """
    if not tokens:
        raise ValueError("a window needs a word to stand around; the text has none")
    if window < 1:
        raise ValueError(f"a window of {window:g} holds no neighbour; give 1 or more")
    drawn = [1 + randint(rng, int(window)) for _ in tokens] if reach is None else list(reach)
    if len(drawn) != len(tokens) or min(drawn) < 0:
        raise ValueError(f"reach is a whole number from 0 up for each of {len(tokens)} words; {drawn!s:.80} was given")
    read = torch.tensor(tokens)
    return Example(read, torch.arange(len(read))[None], torch.zeros_like(read), Visibility.window(torch.tensor(drawn)),
                   read)
