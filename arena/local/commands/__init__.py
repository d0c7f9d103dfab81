"""Bots that are commands in separate processes: their specs, start, supervision and end."""
