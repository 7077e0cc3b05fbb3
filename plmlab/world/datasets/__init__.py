"""Training data made of a World: batches, labelled tasks, a tokenizer."""
