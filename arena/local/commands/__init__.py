"""Commands that run as separate processes: their specs, start, supervision and end."""
