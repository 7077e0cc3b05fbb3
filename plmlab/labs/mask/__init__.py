"""The Mask Lab: any objective on a sentence, and its attention mask."""
