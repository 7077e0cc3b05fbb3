"""The Vector Lab: word vectors as points, nearest neighbours in the full space, and analogies, tracked during
training."""
