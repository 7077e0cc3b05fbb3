"""The Four-mask Lab: one hidden word, one network, and the four masks that say what it may be told from."""
