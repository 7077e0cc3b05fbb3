"""Training: ``fit`` trains any model, ``frozen`` freezes parts of one, and ``History`` records a run."""

from plmlab.train.freezing import all_but, frozen
from plmlab.train.history import History
from plmlab.train.loop import fit
from plmlab.train.loss_buffer import Diverged
from plmlab.train.state import StateError

__all__ = ["Diverged", "History", "StateError", "all_but", "fit", "frozen"]
