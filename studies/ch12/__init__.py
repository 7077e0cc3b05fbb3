"""Chapter 12: UniLM and GLM."""
