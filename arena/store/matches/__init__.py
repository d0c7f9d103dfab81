"""Matches as database rows: their start and end, and the search for them."""
