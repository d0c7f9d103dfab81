"""Connections, rows, errors and migrations, which every other room of the store uses."""
