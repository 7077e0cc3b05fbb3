"""Chapter 09, BERT's family: its exercises."""
