"""The Alignment Lab: where a translation looks while it is written, and what becomes of it when the look is moved."""
