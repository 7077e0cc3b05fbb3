"""Building blocks, one idea per file: hook points, attention, positions, recurrent cells, the Transformer layer."""
