"""The Softmax Lab: scores and probabilities at any temperature."""
