"""The Four-mask Lab: one masked word, one network, and UniLM's four attention masks."""
