"""A server as one of several nodes: its lease, its share of the work, and what it learns from the others."""
