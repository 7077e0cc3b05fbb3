"""The Attention Lab: all attention heads of a model on one sentence, down to the computation of a single weight."""
