"""The Shape X-ray: attention as shapes, line by line."""
