"""Chapter 05, ELMo."""
