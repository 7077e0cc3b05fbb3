"""The Next-token Lab: what comes next, layer by layer."""
