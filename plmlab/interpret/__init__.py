"""Interpretability tools without a user interface: recording and changing activations, attention maps, ablations, the
logit lens."""

from plmlab.interpret.watching import ActivationRecord, ablate_heads, intervene, watch

__all__ = ["ActivationRecord", "ablate_heads", "intervene", "watch"]
