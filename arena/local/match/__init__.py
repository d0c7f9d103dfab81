"""Comparing bots: designs, sets of games, and their evaluation."""
