"""The Permutation Lab: predict a sentence in any factorization order, with a model and the Bayes-optimal predictor."""
