"""Offline version of bertviz (Vig 2019)."""

from plmlab.labs.bertviz.lab import head_view, model_view

__all__ = ["head_view", "model_view"]
