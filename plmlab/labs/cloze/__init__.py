"""The Cloze Lab: predictions for masked words, of a model and of the Bayes-optimal predictor."""
