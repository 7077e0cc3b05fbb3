"""CogQA on real text: MiniLM, a real BERT, is trained on questions of the Small World and evaluated on the Wikipedia
sample.

The rule was fixed before the run: CogQA *carries over* if it answers half of the one-hop questions and a third of the
bridge questions; it *does not* if it answers less than a third of the one-hop questions and at most one bridge
question. There is a single run with one learning rate, which does not show what MiniLM could learn, only whether
multi-hop reasoning learned in one small world transfers.
"""

from pathlib import Path
from typing import Any

from plmlab.chapters.ch14.answering import answer_question
from plmlab.chapters.ch14.test_set import SIZES, questions
from plmlab.chapters.ch14.training import pages
from plmlab.hf.minilm_vectors import pieces
from plmlab.recipes import Parts, device
from plmlab.recipes.stored_models import keep, with_kept
from studies.ch14.outcomes import mean_scores
from studies.ch14.real_text import fine_tuned, on_minilm
from studies.ch14.wikipedia import answered_wikipedia

UPDATES, RATE, SEED = 500, 2e-4, 0
QUESTIONS = 40
"""Number of questions per group of the world's test split."""


def file(folder: str) -> Path:
    """The path of the weights in the recipe's folder."""
    return Path(folder) / "minilm.safetensors"


def fine_tune(folder: str) -> dict[str, Any]:
    """Fine-tune MiniLM and save its weights; return the ``device``."""
    keep(fine_tuned(SEED, UPDATES, RATE, show=False), file(folder))
    return {"device": device()}


def evaluate(folder: str) -> dict[str, Any]:
    """``world``: group → `mean_scores` of the first questions of the group; ``wikipedia``: the output of
    `answered_wikipedia`."""
    model, read = with_kept(on_minilm(), file(folder)), pages("test", pieces())
    return {"world": {name: mean_scores([answer_question(model, read, one)
                                         for one in questions("test")[name][:QUESTIONS]]) for name in SIZES},
            "wikipedia": answered_wikipedia(model)}


def measure(parts: Parts) -> dict[str, Any]:
    """The output of `evaluate`, with the ``device`` and the number of ``updates`` of the training."""
    folder = str(parts.folder)
    trained = parts(fine_tune, [(folder,)])[folder,]
    return {**trained, "updates": UPDATES, "lr": RATE, **parts(evaluate, [(folder,)])[folder,]}
