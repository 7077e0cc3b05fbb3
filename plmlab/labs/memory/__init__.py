"""The Memory Lab: segment-level recurrence, its receptive field, and what changes when part of the memory is masked."""
