"""Chapter 08, BERT."""
