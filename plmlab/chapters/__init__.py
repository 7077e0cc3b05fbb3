"""Code that only one chapter uses, in one folder per chapter: exercises with common mistakes, and the models it trains.

Code shared by several chapters lives in a lower layer; chapters never import one another.
"""
