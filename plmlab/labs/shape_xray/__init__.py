"""The Shape X-ray: the tensor shapes of multi-head attention, line by line."""
