"""The transparency log of results: tree, leaves, heads and keys. This package stores nothing and uses no database."""
