"""What chapter 16 trains in front of the reader: retriever and reader together, a few updates from their warm start."""

from plmlab.chapters.ch16.arms import ARMS, FULL
from plmlab.chapters.ch16.corpora import TRAINING
from plmlab.chapters.ch16.training import Lesson, LookedUp
from plmlab.models.realm import REALM

WORLDS = TRAINING[:4]
UPDATES, BATCH, EVERY = 80, 16, 20


def batches(model: REALM, seed: int = 0) -> LookedUp:
    """Step → its statements with what the model looks up for them, each `EVERY` steps in another world."""
    lessons = [Lesson.of(world) for world in WORLDS]
    return LookedUp(model, lambda turn: lessons[turn % len(lessons)], ARMS[FULL], seed=seed, batch=BATCH, every=EVERY)
