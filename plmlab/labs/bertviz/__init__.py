"""bertviz (Vig 2019) offline."""

from plmlab.labs.bertviz.lab import head_view, model_view

__all__ = ["head_view", "model_view"]
