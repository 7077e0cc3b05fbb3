"""Chapter 13: encoder–decoders."""
