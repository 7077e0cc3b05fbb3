"""The Softmax Lab: scores become shares, at any temperature."""
