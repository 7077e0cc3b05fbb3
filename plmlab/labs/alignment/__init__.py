"""The Alignment Lab: the cross-attention of a translation, and the effect of changing it."""
