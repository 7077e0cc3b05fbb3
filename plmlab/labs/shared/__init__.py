"""What several labs use."""
