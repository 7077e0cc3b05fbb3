"""Recorded studies of chapter 19."""
