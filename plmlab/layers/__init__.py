"""Building blocks of the models, one concept per file, such as attention, positional encodings and recurrent cells."""
