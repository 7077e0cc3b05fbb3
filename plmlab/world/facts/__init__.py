"""The facts of a world: its entities, their relations, and how both are sampled."""
