"""The private server: commands come in at a Unix socket, and a director gives them their matches."""
