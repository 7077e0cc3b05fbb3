"""The sentence grammar: patterns, variable bindings, the compiled automaton, and held-out splits."""
