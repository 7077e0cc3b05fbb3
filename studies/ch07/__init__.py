"""Chapter 07, GPT."""
