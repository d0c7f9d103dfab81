"""Matches as rows: begun, finished, searched for."""
