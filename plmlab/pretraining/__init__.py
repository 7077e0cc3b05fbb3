"""``plmlab pretrain``: a tokenizer and a model trained from nothing on a text, kept as a checkpoint."""

from plmlab.pretraining.plan import Plan
from plmlab.pretraining.run import pretrain, resume

__all__ = ["Plan", "pretrain", "resume"]
