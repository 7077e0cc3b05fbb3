"""The sentence grammar: patterns, variable bindings, the compiled automaton, and what is held out."""
