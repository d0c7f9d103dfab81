"""The project of a new bot."""
