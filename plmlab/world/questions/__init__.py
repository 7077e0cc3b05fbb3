"""Questions with their cognitive graphs, and cloze statements."""
