"""Should retrieval be learned, and may each token come from another document? (Lewis et al. 2020, table 6)

RAG-Sequence and RAG-Token are trained with the retriever of DPR, learned further or frozen, and with BM25. In the paper
a learned retriever is better than a frozen one, and a frozen one than BM25, in exact match on four question-answering
datasets; on FEVER, whose claims name their entities, BM25 is best. RAG-Sequence is better at answering questions;
RAG-Token at generating Jeopardy questions, which often combine two pieces of information (§4.3).

All variants start from the same DPR and the same BART, and are trained on the same questions in the same order. Each
has the learning rate that is best for it on the development world after 200 updates; if two are equal, after 400, a
rule that was added when this happened to one variant. A generator without documents is trained in
the same way; it can only learn which answers are frequent. The other rules were fixed before the runs. A comparison is
decided by every seed of one above every seed of the other by more than `MARGIN` in exact match.

- *Learned retrieval* is better than a frozen retriever, and *dense retrieval* (frozen) is better than BM25, over all
  questions, for both forms: supported if it holds for both, partly supported if for one and the opposite for none.
- *RAG-Token combines documents*: it is better than RAG-Sequence on questions about two facts in two documents, both
  with learned retrieval.
- *RAG-Sequence keeps to one document*: it is better than RAG-Token on questions about two facts in one document.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch import nn

from plmlab.chapters.ch17.arms import ARMS, FROZEN, LEARNED, LEXICAL, SEQUENCE, TOKEN, asked, figures, train
from plmlab.chapters.ch17.questions import KINDS, ONE_DOCUMENT, TWO_DOCUMENTS, questions
from plmlab.chapters.ch17.training import UPDATES
from plmlab.checkpoints import load
from plmlab.models.rag import RAGSequence
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study, combined_verdict, verdict
from plmlab.train import History
from plmlab.world.datasets.fact_documents import DEVELOPMENT, TEST_WORLDS

RATES = (3e-4, 1e-3, 3e-3)
PILOT_UPDATES, DEVELOPMENT_QUESTIONS = 200, 50
MARGIN = 0.02
ALL = "all questions"


@cache
def retriever() -> nn.Module:
    """The bundled DPR's encoder for questions and documents."""
    encoder: nn.Module = load("rag-world", expect="rag-token")[0].question_encoder
    return encoder


def build(form: str, how: str, seed: int) -> RAGSequence:
    """A variant before training."""
    torch.manual_seed(seed)
    return ARMS[form, how].model.from_pretrained(retriever(), load("bart-world", expect="bart")[0])


def learn(model: Any, form: str, how: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a variant."""
    return train(model, retriever(), ARMS[form, how], lr, seed, updates, **options)


def development_score(run: Run) -> float:
    """Exact match on questions of all kinds about the development world."""
    return measured(run, (DEVELOPMENT,), DEVELOPMENT_QUESTIONS)[f"{ALL}: exact match"]


def test(run: Run) -> dict[str, float]:
    """The `figures` of all questions about the test worlds, and of those of each kind."""
    return measured(run, TEST_WORLDS)


def measured(run: Run, worlds: tuple[int, ...], size: int | None = None) -> dict[str, float]:
    """The `figures` of the first ``size`` questions of each kind about each world."""
    found: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for world in worlds:
        some = {kind: all_of[:size] for kind, all_of in questions(world).items()}
        for kind, outcomes in asked(run.model, retriever(), world, some, ARMS[run.arm]).items():
            found[kind] += outcomes
    groups = {ALL: [one for outcomes in found.values() for one in outcomes], **found}
    return {f"{name}: {figure}": value for name, outcomes in groups.items()
            for figure, value in figures(outcomes).items()}


STUDY: Study[RAGSequence] = Study(name="ablation", arms=dict.fromkeys(ARMS, RATES), build=build, train=learn,
                                  development=development_score, test=test, updates=(UPDATES,), nothing=0.0,
                                  pilots=(9,), pilot_updates=PILOT_UPDATES)


TIED = replace(STUDY, arms={(TOKEN, FROZEN): RATES}, pilot_updates=2 * PILOT_UPDATES)
"""RAG-Token with a frozen retriever had the same score with two learning rates, so its pilots are longer."""


def measure(parts: Parts) -> dict[str, Any]:
    """``runs``, "form, retriever" → ``lr``, ``rates`` and the numbers of `test` with spread; and the ``verdicts``."""
    asked = [(*arm, UPDATES) for arm in ARMS]
    rates = (STUDY.best(parts, [one for one in asked if one[:-1] not in TIED.arms])
             | TIED.best(parts, [one for one in asked if one[:-1] in TIED.arms]))
    measured = STUDY.at(parts, {one: rates[one] for one in asked})
    runs = {f"{form}, {how}": one.as_record() for (form, how, _), one in measured.items()}
    return {"runs": runs, "verdicts": verdicts(runs)}


def verdicts(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The verdict on each claim, by its name in the module's docstring."""
    def between(one: str, other: str, kind: str = ALL) -> str:
        return verdict(runs[one][f"{kind}: exact match"], runs[other][f"{kind}: exact match"], MARGIN)

    def for_both(one: str, other: str) -> str:
        return combined_verdict(between(f"{form}, {one}", f"{form}, {other}") for form in (SEQUENCE, TOKEN))

    sequence, token = f"{SEQUENCE}, {LEARNED}", f"{TOKEN}, {LEARNED}"
    return {"learned retrieval": for_both(LEARNED, FROZEN), "dense retrieval": for_both(FROZEN, LEXICAL),
            "RAG-Token combines documents": between(token, sequence, TWO_DOCUMENTS),
            "RAG-Sequence keeps to one document": between(sequence, token, ONE_DOCUMENT)}
