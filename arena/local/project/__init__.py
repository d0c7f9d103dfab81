"""A new bot's project."""
