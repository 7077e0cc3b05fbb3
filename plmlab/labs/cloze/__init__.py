"""The Cloze Lab: what a model, and the best reader, believe of hidden words."""
