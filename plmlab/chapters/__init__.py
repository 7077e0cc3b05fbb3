"""Code that only one chapter uses, one folder per chapter: its exercises with their mistakes, the models it trains.

Code that two chapters use lives in a lower layer; chapters never import chapters.
"""
