"""Ladders, which are computed in a separate process and then published."""
