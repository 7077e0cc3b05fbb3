"""The Attention Lab: all heads of a model on a sentence, down to the arithmetic of one cell."""
