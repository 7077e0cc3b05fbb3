"""Looking inside models, without a widget: watch and intervene, attention maps, ablations, the logit lens, heads."""

from plmlab.interpret.watching import ActivationRecord, ablate_heads, intervene, watch

__all__ = ["ActivationRecord", "ablate_heads", "intervene", "watch"]
