"""The Layer Lab: one word, many vectors, a layer at a time, and what becomes of its neighbours as layers are mixed."""
