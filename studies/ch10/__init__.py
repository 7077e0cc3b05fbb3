"""Experiments of chapter 10, Transformer-XL."""
