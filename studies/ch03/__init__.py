"""Chapter 03, language models and decoding."""
