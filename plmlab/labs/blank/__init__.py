"""The Blank Lab: spans of a sentence are replaced by blanks of unknown length, which are filled word by word."""
