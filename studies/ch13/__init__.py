"""Recorded studies of chapter 13."""
