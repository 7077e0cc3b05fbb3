"""The Cognitive Graph Lab: CogQA's graph of pages, expanded step by step, and the answer selected from it."""
