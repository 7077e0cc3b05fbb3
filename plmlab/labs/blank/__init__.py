"""The Blank Lab: spans of a sentence become blanks, and are filled word by word, nobody told how long they are."""
