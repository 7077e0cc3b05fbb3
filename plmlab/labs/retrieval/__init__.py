"""The Retrieval Lab: documents retrieved for a masked query, the reader's predictions, and the effect of editing
documents."""
