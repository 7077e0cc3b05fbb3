"""Other ways to process the chapter's texts: with a sliding window, and without a network."""

from collections import Counter
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from plmlab.chapters.ch10 import recalling
from plmlab.world.datasets.recalls import RecallText


@torch.no_grad()
def by_windows(model: nn.Module, window: int, rows: Int[Tensor, "text word"]) -> Float[Tensor, "text position vocab"]:
    """Logits of every position except the last, given the ``window`` − 1 words before it: all positions of the first
    window in one pass, and each later one in a window of its own."""
    last = rows.shape[1] - 1
    return torch.cat([recalling.segment_logits(model, rows[:, :window + 1]), *(
        recalling.segment_logits(model, rows[:, end - window:end + 1])[:, -1:] for end in range(window + 1, last + 1))],
                     1)


def rule(looks: Bool[Tensor, "query key"], some: Sequence[RecallText]) -> dict[str, float]:
    """Accuracy of a rule without a network that is restricted to the attention mask ``looks``: of the things that the
    verb allows, it predicts the last visible one, or the most frequent one in training if none is visible."""
    often = Counter(word for text in recalling.texts("train") for word in text.words)
    asked, hits = list(recalling.questions(some)), []
    for question in asked:
        words = some[question.row].words
        seen = [words[at] for at in looks[question.position].nonzero().flatten() if words[at] in question.things]
        said = seen[-1] if seen else max(sorted(question.things), key=often.__getitem__)
        hits.append(float(said == words[question.position + 1]))
    return recalling.by_distance(asked, hits)
