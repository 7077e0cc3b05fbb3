"""bertviz without a network."""
