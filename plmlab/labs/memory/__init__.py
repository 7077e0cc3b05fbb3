"""The Memory Lab: a text read segment by segment, what is remembered of it, and what changes where memory is cut."""
