"""``plmlab pretrain``: train a tokenizer and a model from scratch on a text, and save them as a checkpoint."""

from plmlab.pretraining.plan import Plan
from plmlab.pretraining.run import pretrain, resume

__all__ = ["Plan", "pretrain", "resume"]
