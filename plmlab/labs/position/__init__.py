"""The Position Lab: how a model tells places."""
