"""Rated results, fits, standings and published ladders as database rows."""
