"""Datasets generated from a World: batches, labelled tasks, a tokenizer."""
