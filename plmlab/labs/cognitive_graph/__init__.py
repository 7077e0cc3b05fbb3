"""The Cognitive Graph Lab: a graph of pages that grows step by step, and the answer that is chosen in it."""
