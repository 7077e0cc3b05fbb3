"""What several labs share: names of tokens, masks, and the Small World's exact probabilities."""
