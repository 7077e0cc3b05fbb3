"""The Gate Lab: the gates and the cell state of an LSTM, unit by unit, and the effect of clamping units."""
