"""The Gradient Lab: how much a change at one step still moves at another, and the cliff that clipping is for."""
