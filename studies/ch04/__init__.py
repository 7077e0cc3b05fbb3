"""Chapter 04, seq2seq and attention."""
