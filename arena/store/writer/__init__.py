"""The writer process and its group commit."""
