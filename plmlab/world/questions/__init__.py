"""Questions with their cognitive graphs, and clozes."""
