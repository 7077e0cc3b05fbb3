"""The Gradient Lab: vanishing and exploding gradients in recurrent networks, and gradient clipping at a cliff."""
