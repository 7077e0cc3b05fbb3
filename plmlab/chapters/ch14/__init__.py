"""Chapter 14, CogQA: multi-hop question answering."""
