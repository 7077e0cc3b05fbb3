"""The Position Lab: positional encodings, and a model without position information."""
