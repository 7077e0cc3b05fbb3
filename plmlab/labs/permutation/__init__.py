"""The Permutation Lab: the words of a sentence said in any order, by a model and by the best possible reader."""
