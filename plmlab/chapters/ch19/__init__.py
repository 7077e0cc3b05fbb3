"""Chapter 19, an audit: a checklist that runs, its exercises, and what its notebook imports."""
