"""Baselines of recall: a sliding window, and a rule without a network."""

from collections import Counter
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from plmlab.chapters.ch10 import recall_task
from plmlab.world.datasets.recalls import RecallText


@torch.no_grad()
def sliding_window_logits(model: nn.Module, window: int, rows: Int[Tensor, "text word"],
                          ) -> Float[Tensor, "text position vocab"]:
    """Logits at every position except the last, given the preceding ``window`` − 1 words: all positions of the first
    window in one pass, and each later position in a separate window."""
    last = rows.shape[1] - 1
    first = recall_task.segment_logits(model, rows[:, :window + 1])
    later = (recall_task.segment_logits(model, rows[:, end - window:end + 1])[:, -1:]
             for end in range(window + 1, last + 1))
    return torch.cat([first, *later], 1)


def last_object_accuracy(looks: Bool[Tensor, "query key"], some: Sequence[RecallText]) -> dict[str, float]:
    """Accuracy of a rule that uses no network and is restricted to the attention mask ``looks``. Of the objects that
    the verb allows, it predicts the last visible one or, if none is visible, the most frequent one in training."""
    often = Counter(word for text in recall_task.texts("train") for word in text.words)
    asked, hits = list(recall_task.questions(some)), []
    for question in asked:
        words = some[question.row].words
        seen = [words[at] for at in looks[question.position].nonzero().flatten() if words[at] in question.candidates]
        said = seen[-1] if seen else max(sorted(question.candidates), key=often.__getitem__)
        hits.append(float(said == words[question.position + 1]))
    return recall_task.by_distance(asked, hits)
