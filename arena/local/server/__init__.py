"""The private server: commands connect to a Unix socket, and a local matchmaker assigns their matches."""
