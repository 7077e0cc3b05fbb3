"""Chapter 18, entity memories: KnowBERT, Entities as Experts, Facts as Experts."""
