"""What chapter 16 trains live: part of the retriever's warm start, and REALM's first updates.

REALM's recall starts to improve only after about 200 updates (`ablated`), a few minutes; after these 30 its loss has
begun to fall.
"""

from plmlab.chapters.ch16.arms import ARMS, FULL
from plmlab.chapters.ch16.corpora import TRAINING
from plmlab.chapters.ch16.training import Lesson, RetrievalBatches
from plmlab.models.realm import REALM

WORLDS = TRAINING[:4]
MATCHING_UPDATES = 100
UPDATES, BATCH, EVERY, RATE = 30, 16, 20, 3e-4


def batches(model: REALM, seed: int = 0) -> RetrievalBatches:
    """Step → its statements with the documents that the model retrieves for them; the world changes every `EVERY`
    steps."""
    lessons = [Lesson.of(world) for world in WORLDS]
    return RetrievalBatches(model, lambda turn: lessons[turn % len(lessons)], ARMS[FULL], seed=seed, batch=BATCH,
                            every=EVERY)
