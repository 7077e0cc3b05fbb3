"""The models of chapter 12 by name: UniLM and the models that it is meant to replace, all of the same size;
``studies/ch12/pretrained.py`` pretrained them on the same amount of text."""

PRETRAINED = ("UniLM", "BERT", "sequence to sequence", "GPT", "encoder-decoder")
"""The pretrained models; "sequence to sequence" is UniLM's network trained under one of its four masks only."""
RANDOM_INIT = "UniLM, not pretrained"
"""UniLM's network with random weights: a baseline without pretraining."""
