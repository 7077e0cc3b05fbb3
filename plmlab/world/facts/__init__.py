"""What is true in a world: its entities, their relations, and how both are drawn."""
