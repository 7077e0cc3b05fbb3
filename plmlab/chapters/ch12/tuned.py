"""Of the four tasks of chapter 08, those with classes, for which GPT has an interface too."""

from plmlab.models.task_heads import SentenceClassifier
from plmlab.transfer import TASKS

CLASSES = tuple(name for name, task in TASKS.items() if task.head is SentenceClassifier)
