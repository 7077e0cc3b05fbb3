"""The experiments behind the course's recorded results, one folder per chapter: `plmlab recipe NN` runs a chapter's
recipe."""
