"""Comparing bots: designs, the sets that are played, and what they say."""
