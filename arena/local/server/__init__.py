"""The private server: commands connect to a Unix socket, and a director assigns their matches."""
