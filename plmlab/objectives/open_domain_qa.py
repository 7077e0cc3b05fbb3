"""Open-domain question answering (Lee et al. 2019, §3; Guu et al. 2020, §3.2), REALM's fine-tuning task: the answer is
a span of a document that is not given but has to be retrieved."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.example import Example
from plmlab.objectives.reader_inputs import Ids, pair_input
from plmlab.objectives.retrieval_batches import RetrievedBatch
from plmlab.text.vocabulary import Vocabulary


def answer_spans(question: Ids, document: Ids, answers: Sequence[Ids], *, vocab: Vocabulary) -> Example:
    """[CLS] question [SEP] document [SEP], unmasked; label ``spans``, [span 2], the first and last position of every
    occurrence of an answer in the document.

    Each of the ``answers`` is correct. Occurrences may overlap, and there may be none. Raises ValueError if the
    document (for example the null document) or an answer is empty.
    """
    if not document:
        raise ValueError("the document is empty and cannot contain an answer; leave it out (also the null "
                         "document)")
    if not all(answers):
        raise ValueError("an answer is empty; leave it out")
    before, text = len(question) + 2, [*document]
    spans = sorted({(before + start, before + start + len(answer) - 1) for answer in answers
                    for start in range(len(text) - len(answer) + 1) if text[start:start + len(answer)] == [*answer]})
    occurrences = torch.tensor(spans, dtype=torch.long).view(-1, 2)
    return replace(pair_input(question, document, vocab), labels={"spans": occurrences})


class QuestionBatch(RetrievedBatch):
    """Questions with their retrieved documents, and one `answer_spans` Example per (question, document) pair. The
    document vectors are precomputed and frozen."""

    documents: Float[Tensor, "document width"]

    @property
    def targets(self) -> Int[Tensor, "row time"]:
        """All IGNORE: no token is predicted."""
        return self.queries.targets
