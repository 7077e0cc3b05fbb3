"""Other ways to read the chapter's texts: in a window that moves word by word, and without a network."""

from collections import Counter
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from plmlab.chapters.ch10 import recalling
from plmlab.world.datasets.recalls import RecallText


@torch.no_grad()
def by_windows(model: nn.Module, window: int, rows: Int[Tensor, "text word"]) -> Float[Tensor, "text position vocab"]:
    """The logits of each position but the last, read with the ``window`` − 1 words before it: all positions of the
    first window at once, and each later one in a window of its own."""
    last = rows.shape[1] - 1
    return torch.cat([recalling.in_order(model, rows[:, :window + 1]), *(
        recalling.in_order(model, rows[:, end - window:end + 1])[:, -1:] for end in range(window + 1, last + 1))], 1)


def rule(looks: Bool[Tensor, "query key"], some: Sequence[RecallText]) -> dict[str, float]:
    """The share of right answers of a reader without a network who may look where ``looks`` allows: among the things
    that the verb leaves, the last that it sees; where it sees none, the commonest in what is read."""
    often = Counter(word for text in recalling.texts("train") for word in text.words)
    asked, hits = list(recalling.questions(some)), []
    for question in asked:
        words = some[question.row].words
        seen = [words[at] for at in looks[question.position].nonzero().flatten() if words[at] in question.things]
        said = seen[-1] if seen else max(sorted(question.things), key=often.__getitem__)
        hits.append(float(said == words[question.position + 1]))
    return recalling.by_distance(asked, hits)
