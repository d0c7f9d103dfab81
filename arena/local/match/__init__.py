"""Comparing bots: designs, sets and their evaluation."""
