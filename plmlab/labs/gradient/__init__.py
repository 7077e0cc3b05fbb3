"""The Gradient Lab: vanishing and exploding gradients in recurrent networks, and the cliff that clipping avoids."""
