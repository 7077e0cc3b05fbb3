"""Exact probabilities: the automaton, its ambiguity, posteriors of hidden words, floors."""
