"""Looking inside models, without a widget: watch and intervene, attention maps, ablations, the logit lens, heads."""

from plmlab.interpret.watching import Seen, intervene, switch_off, watch

__all__ = ["Seen", "intervene", "switch_off", "watch"]
