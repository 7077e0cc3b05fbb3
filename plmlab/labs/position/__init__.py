"""The Position Lab: positional encodings, and a model without its positions."""
