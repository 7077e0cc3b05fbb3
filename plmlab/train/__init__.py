"""Training: ``fit`` for every model, ``frozen`` for a part of it, and the ``History`` that it gives."""

from plmlab.train.freezing import frozen
from plmlab.train.history import History
from plmlab.train.loop import fit
from plmlab.train.loss_buffer import Diverged
from plmlab.train.state import StateError

__all__ = ["Diverged", "History", "StateError", "fit", "frozen"]
