"""Exact probabilities: the automaton, its ambiguity check, posteriors over masked words, and entropy floors."""
