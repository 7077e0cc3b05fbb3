"""The Vector Lab: words as points, their neighbours in the space itself, analogies, and both along training."""
