"""Train the bundled RAG of chapter 17: ``python -m studies.ch17.bundled``.

To stay below 4 MB, it is stored in half precision, and its question encoder is DPR's encoder for questions and
documents, which was frozen when the generator was trained. So `rag-world` also contains the DPR with which the variants
of `studies.ch17.ablation` begin.
"""

from copy import deepcopy

import torch

from plmlab.chapters.ch17 import arms
from plmlab.chapters.ch17.arms import FixedToken, asked
from plmlab.chapters.ch17.questions import KINDS, questions
from plmlab.chapters.ch17.training import DPR_UPDATES, AnswerBatches, train_dpr
from plmlab.checkpoints import enter, home, load, save
from plmlab.models.dpr import SharedDPR
from plmlab.models.rag import RAGToken
from plmlab.train import fit
from plmlab.world.datasets.fact_documents import TEST_WORLDS
from plmlab.world.datasets.tokenizer import world_tokenizer

COMMAND = "python -m studies.ch17.bundled"
NAME, UPDATES, RATE = "rag-world", 4000, 1e-3


def main() -> None:
    """Train the retriever, then the generator, and add the model to the index of checkpoints."""
    torch.manual_seed(0)
    dpr = SharedDPR.from_pretrained(load("bert-world", expect="bert-pretraining")[0].encoder)
    before = train_dpr(dpr, 0)
    model = FixedToken.from_pretrained(dpr.question_encoder, load("bart-world", expect="bart")[0])
    history = fit(model, AnswerBatches(model, dpr.document_encoder, 0), steps=UPDATES, lr=RATE, warmup=UPDATES // 10,
                  compile=False)
    bundle(RAGToken.from_pretrained(model.question_encoder, model.generator), before.seconds + history.seconds)


def bundle(model: RAGToken, seconds: float) -> None:
    """Save the model with its test results, which are those of the stored weights."""
    half = deepcopy(model).half()
    save(home() / NAME, half, world_tokenizer(), command=COMMAND, figures={
        "updates of DPR, of RAG": f"{DPR_UPDATES:,}, {UPDATES:,}", **figures(deepcopy(half).float()),
        "seconds": f"{seconds:.0f}"})
    enter(NAME)


def figures(model: RAGToken) -> dict[str, str]:
    """The results on the questions of each kind about the test worlds."""
    found = [asked(model, model.question_encoder, world, questions(world)) for world in TEST_WORLDS]
    return {f"{kind}, {name}": f"{value:.3f}" for kind in KINDS
            for name, value in arms.figures([one for each in found for one in each[kind]]).items()}


if __name__ == "__main__":
    main()
