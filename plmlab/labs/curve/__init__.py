"""The live curve of a training run."""
