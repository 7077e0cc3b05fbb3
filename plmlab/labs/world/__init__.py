"""Meet the Small World."""
