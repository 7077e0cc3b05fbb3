"""Experiments of chapter 16, REALM."""
