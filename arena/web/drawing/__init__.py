"""Drawings of ratings that need no script."""
