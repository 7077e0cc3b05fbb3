"""Experiments of chapter 14, CogQA."""
