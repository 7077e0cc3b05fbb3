"""The Gate Lab: the gates and the memory of an LSTM, unit by unit, and what changes where one is held."""
