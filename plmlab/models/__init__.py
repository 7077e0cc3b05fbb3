"""One system a file, read from top to bottom; each registers what it reads, how, and what pretrains it."""
