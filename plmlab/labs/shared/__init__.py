"""Code shared by several labs: names of tokens, attention masks, distributions, and the Small World's exact
probabilities."""
