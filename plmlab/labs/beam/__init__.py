"""The Beam Lab: the tree of beam search, what it prunes, and what it misses."""
