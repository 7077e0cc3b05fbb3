"""How a world says what is true: patterns, their bindings, the compiled grammar, and what is held out."""
