"""Experiments of chapter 11, XLNet and MPNet."""
