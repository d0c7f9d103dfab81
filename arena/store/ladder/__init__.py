"""Rated results, fits, standings and published ladders as rows."""
