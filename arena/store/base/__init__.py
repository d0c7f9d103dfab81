"""Connections, rows, errors and migrations, which all other packages of the store use."""
