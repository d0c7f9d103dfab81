"""Growth of costs with the bots that play and with the matches that are stored."""
