"""Limits on what peers cost: connections, memory and processor time."""
