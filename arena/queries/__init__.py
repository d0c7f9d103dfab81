"""Queries of people, answered by a server or a data directory."""
