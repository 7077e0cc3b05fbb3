"""The Blank Lab: spans of a sentence become blanks of unknown length, filled word by word."""
