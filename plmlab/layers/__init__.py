"""One idea a file: hook points, attention, positions, the Transformer layer."""
