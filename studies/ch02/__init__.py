"""Chapter 02, word vectors."""
