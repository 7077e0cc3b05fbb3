"""The Retrieval Lab: documents retrieved for a masked query or a question, the predictions from them, and the effect of
editing documents."""
