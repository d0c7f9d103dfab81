"""Ladders: fitted in a separate process, then published."""
