"""Experiments of chapter 08, BERT."""
