"""Chapter 14: CogQA, answering in several hops."""
