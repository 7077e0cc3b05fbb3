"""Training: ``fit`` for every model, and the ``History`` that it gives."""

from plmlab.train.history import History
from plmlab.train.loop import fit
from plmlab.train.reading import Diverged
from plmlab.train.state import StateError

__all__ = ["Diverged", "History", "StateError", "fit"]
