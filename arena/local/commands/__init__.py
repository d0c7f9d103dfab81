"""Bots that are commands in separate processes: their specifications, start, supervision and end."""
