"""The models of chapter 12 by name: UniLM and what it is to replace, of one size; ``studies/ch12/pretrained.py`` has
pretrained them on as much text."""

PRETRAINED = ("UniLM", "BERT", "sequence to sequence", "GPT", "encoder-decoder")
"""Those that have read; "sequence to sequence" is UniLM's network under one of its four masks alone."""
NOTHING = "UniLM, not pretrained"
"""UniLM's network with random weights: what pretraining is worth."""
