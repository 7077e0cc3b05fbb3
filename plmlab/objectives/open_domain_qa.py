"""Questions whose answer stands somewhere in what was retrieved, nobody says in which document (Lee et al. 2019, §3;
Guu et al. 2020, §3.2): what REALM is fine-tuned on."""

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
    """[CLS] question [SEP] document [SEP], nothing hidden; label ``spans``, [span 2], the first and the last position
    of every place where one of the answers stands in the document.

    Any of the ``answers`` is right. They may overlap, and stand nowhere. ValueError for a document or an answer without
    a token: there is nothing to point at in the null document.
    """
    if not document:
        raise ValueError("a document without a token was given, in which no answer can stand; leave it away, the null "
                         "document too")
    if not all(answers):
        raise ValueError("an answer without a token was given; leave it away")
    before, text = len(question) + 2, [*document]
    spans = sorted({(before + start, before + start + len(answer) - 1) for answer in answers
                    for start in range(len(text) - len(answer) + 1) if text[start:start + len(answer)] == [*answer]})
    found = torch.tensor(spans, dtype=torch.long).view(-1, 2)
    return replace(pair_input(question, document, vocab), labels={"spans": found})


class QuestionBatch(RetrievedBatch):
    """Questions with what was retrieved for each, and `answer_spans` for each pair; the vectors of the documents were
    made before, and do not learn."""

    documents: Float[Tensor, "document width"]

    @property
    def targets(self) -> Int[Tensor, "row time"]:
        """No position predicts a token."""
        return self.queries.targets
