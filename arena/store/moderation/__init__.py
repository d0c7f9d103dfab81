"""Bots hidden, renamed, deleted, parked, and owners banned."""
