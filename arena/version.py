"""The version of the arena."""

__version__ = "0.1.0"
