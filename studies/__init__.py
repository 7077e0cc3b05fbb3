"""The experiments behind the course's recorded results, in one folder per chapter; `plmlab recipe NN` runs the recipe
of a chapter."""
