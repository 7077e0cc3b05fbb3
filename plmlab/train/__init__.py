"""Training: ``fit`` trains any model, ``frozen`` freezes a part of it, ``History`` is the result."""

from plmlab.train.freezing import frozen
from plmlab.train.history import History
from plmlab.train.loop import fit
from plmlab.train.loss_buffer import Diverged
from plmlab.train.state import StateError

__all__ = ["Diverged", "History", "StateError", "fit", "frozen"]
