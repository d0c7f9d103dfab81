"""The Python SDK for bots: see README.md beside this package."""
