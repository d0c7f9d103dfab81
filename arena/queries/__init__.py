"""Queries for people's views, answered by a server or a data directory."""
