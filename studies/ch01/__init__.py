"""Chapter 01, RNN, LSTM, GRU."""
