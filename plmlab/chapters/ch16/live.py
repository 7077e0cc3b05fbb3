"""The live training of chapter 16: part of the retriever's warm start, and the first updates of REALM.

REALM's recall starts to improve only after about 200 updates (`ablated`), which take a few minutes; after the 30
updates here, its loss has started to fall.
"""

from plmlab.chapters.ch16.arms import ARMS, FULL
from plmlab.chapters.ch16.training import RetrievalBatches, TrainingSet
from plmlab.models.realm import REALM
from plmlab.world.datasets.fact_documents import TRAINING

WORLDS = TRAINING[:4]
ICT_UPDATES = 100
UPDATES, BATCH, EVERY, RATE = 30, 16, 20, 3e-4


def batches(model: REALM, seed: int = 0) -> RetrievalBatches:
    """Return a function from a step to its statements, with the documents that the model retrieves for them; the world
    changes every `EVERY` steps."""
    sets = [TrainingSet.of(world) for world in WORLDS]
    return RetrievalBatches(model, lambda turn: sets[turn % len(sets)], ARMS[FULL], seed=seed, batch=BATCH, every=EVERY)
