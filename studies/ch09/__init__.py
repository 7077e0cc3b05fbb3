"""Experiments of chapter 09, the BERT family."""
