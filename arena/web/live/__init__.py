"""Live pages. One stream follows the server, and each board is rendered once for all viewers."""
