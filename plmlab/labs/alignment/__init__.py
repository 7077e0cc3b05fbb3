"""The Alignment Lab: the cross-attention of a translation model, and the effect of changing it."""
