"""CogQA on real text: MiniLM, a real BERT, is trained on the Small World's questions and evaluated on the Wikipedia
sample.

Fixed before the run: it *carries over* if it answers half of the one-hop questions and a third of the bridge questions;
it *does not* if it answers less than a third of the one-hop questions and at most one bridge question. There is one run
with one learning rate: this does not measure what MiniLM could learn, only whether multi-hop reasoning learned in one
small world transfers.
"""

from pathlib import Path
from typing import Any

from plmlab.chapters.ch14.answering import answer_question
from plmlab.chapters.ch14.test_set import SIZES, questions
from plmlab.chapters.ch14.training import pages
from plmlab.chapters.ch14.wikipedia_questions import pieces
from plmlab.recipes import Parts, device
from plmlab.recipes.stored_models import keep, with_kept
from studies.ch14.outcomes import told
from studies.ch14.real_text import learned, on_minilm
from studies.ch14.wikipedia import answered_wikipedia

UPDATES, RATE, SEED = 500, 2e-4, 0
ASKED = 40
"""Number of questions per group of the world's test split."""


def file(folder: str) -> Path:
    """Path of the weights in the recipe's folder."""
    return Path(folder) / "minilm.safetensors"


def tuned(folder: str) -> dict[str, Any]:
    """Fine-tune MiniLM and save its weights; returns the ``device``."""
    keep(learned(SEED, UPDATES, RATE, show=False), file(folder))
    return {"device": device()}


def asked(folder: str) -> dict[str, Any]:
    """``world``: group → `told` of its first questions; ``wikipedia``: the output of `answered_wikipedia`."""
    model, read = with_kept(on_minilm(), file(folder)), pages("test", pieces())
    return {"world": {name: told([answer_question(model, read, one) for one in questions("test")[name][:ASKED]])
                      for name in SIZES},
            "wikipedia": answered_wikipedia(model)}


def measure(parts: Parts) -> dict[str, Any]:
    """Both, with the ``device`` of the training and its number of ``updates``."""
    folder = str(parts.folder)
    trained = parts(tuned, [(folder,)])[folder,]
    return {**trained, "updates": UPDATES, "lr": RATE, **parts(asked, [(folder,)])[folder,]}
