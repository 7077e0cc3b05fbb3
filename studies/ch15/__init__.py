"""Experiments of chapter 15, CogLTX."""
