"""Chapter 15: CogLTX, a BERT for long texts."""
