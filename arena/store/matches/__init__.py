"""Matches as rows: their beginning and end, and the search for them."""
