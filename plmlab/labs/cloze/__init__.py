"""The Cloze Lab: predictions for masked words, by a model and by the Bayes-optimal predictor."""
