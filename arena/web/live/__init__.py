"""Live pages: the server is followed once, and each board is rendered once for all viewers."""
