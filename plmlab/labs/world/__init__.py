"""The Small World Lab: sentences, exact probabilities, entities and bridge questions of the Small World."""
