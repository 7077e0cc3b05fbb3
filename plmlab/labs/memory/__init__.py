"""The Memory Lab: segment-level recurrence, the receptive field of a position, and the effect of masking part of the
memory."""
