"""Experiments of chapter 12, UniLM and GLM."""
