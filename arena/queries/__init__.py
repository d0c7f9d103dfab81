"""Queries for commands and pages, answered by a server or from a data directory."""
