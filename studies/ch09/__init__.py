"""Experiments of chapter 09, BERT's family."""
