"""The classification tasks among the four tasks of chapter 08; GPT has an input format for them, too."""

from plmlab.models.task_heads import SentenceClassifier
from plmlab.transfer import TASKS

CLASSES = tuple(name for name, task in TASKS.items() if task.head is SentenceClassifier)
