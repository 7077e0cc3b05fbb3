"""Datasets generated from a World: batches, labelled tasks, and a tokenizer."""
