"""The transparency log of results: tree, leaves, heads and keys. It stores nothing and knows no database."""
