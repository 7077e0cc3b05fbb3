"""Chapter 06, the Transformer."""
