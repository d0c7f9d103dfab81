"""Sample bots to read, to beat and to start from."""
