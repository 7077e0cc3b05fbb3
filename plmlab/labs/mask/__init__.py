"""The Mask Lab: any objective on a sentence, and who may look at whom."""
