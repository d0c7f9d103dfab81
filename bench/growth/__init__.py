"""What grows with the bots that play and with the matches that are kept, and how fast."""
