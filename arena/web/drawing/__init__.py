"""Ratings as pictures that need no script."""
