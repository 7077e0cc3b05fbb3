"""What one chapter alone uses, a folder a chapter: its recipe, its exercises with their mistakes.

What two chapters use lies further down; chapters never import chapters.
"""
