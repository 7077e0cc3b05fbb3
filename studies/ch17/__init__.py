"""Recorded results of chapter 17."""
