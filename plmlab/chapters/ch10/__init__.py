"""Chapter 10, Transformer-XL: its experiments and exercises."""
