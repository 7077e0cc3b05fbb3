"""The Mask Lab: a sentence under any pretraining objective, and its attention mask."""
