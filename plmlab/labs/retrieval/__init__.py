"""The Retrieval Lab: what is looked up for a statement with a gap, what is read there, and what edits change."""
