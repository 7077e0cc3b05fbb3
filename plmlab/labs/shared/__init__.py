"""What several labs share: names of tokens, masks, beliefs, and the Small World's exact probabilities."""
