"""The Next-token Lab: next-token distributions, decoding settings, and the logit lens."""
