"""Recorded studies of chapter 18."""
