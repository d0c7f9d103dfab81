"""Putting a bot before decisions of the past."""
