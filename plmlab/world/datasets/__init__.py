"""What stands above a World: tasks, batches, a tokenizer."""
