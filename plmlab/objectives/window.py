"""The context window of word2vec (上下文窗口): predict each word from its neighbours."""

from collections.abc import Sequence
from random import Random

import torch

from plmlab.draws import randint
from plmlab.example import Example
from plmlab.objectives.registry import Choice, objective
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility


@objective(
    title="context window (word2vec)",
    chinese="上下文窗口",
    paper="Mikolov et al. 2013a, §3",
    choices=(Choice("window", "maximum words on each side", 5.0, 1.0, 10.0, 1.0),),
    question="The window is 5. Why is the context of a position often smaller?",
    answer="A window size from 1 to the maximum is sampled for each position. So nearby words are used more often than "
           "distant ones.",
)
def window(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, window: float = 5.0,
           reach: Sequence[int] | None = None) -> Example:
    """Each position predicts its own word from the neighbours within its window, never from itself.

    A window size is sampled for each position, uniform from 1 to ``window``; ``reach`` sets the sizes instead. No
    special tokens are added. Position ids count from 0, but models may ignore them. CBOW predicts a word from the mean
    of its context vectors; skip-gram predicts each context word separately. Raises ValueError for an empty text, a
    ``window`` below 1, or an invalid ``reach``.
    """
    if not tokens:
        raise ValueError("the text is empty; give at least one word")
    if window < 1:
        raise ValueError(f"window={window:g}: a window without neighbours; give 1 or more")
    sizes = [1 + randint(rng, int(window)) for _ in tokens] if reach is None else list(reach)
    if len(sizes) != len(tokens) or min(sizes) < 0:
        raise ValueError(f"reach={sizes!s:.80}: give one integer of at least 0 for each of the {len(tokens)} words")
    inputs = torch.tensor(tokens)
    return Example(inputs, torch.arange(len(inputs))[None], torch.zeros_like(inputs),
                   Visibility.window(torch.tensor(sizes)), inputs)
