"""The classification tasks among the four tasks of chapter 08, for which GPT has an input format too."""

from plmlab.models.task_heads import SentenceClassifier
from plmlab.transfer import TASKS

CLASSES = tuple(name for name, task in TASKS.items() if task.head is SentenceClassifier)
