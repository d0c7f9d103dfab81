"""Any command as a bot: a private server at a Unix socket, by whose referee and clocks the games are played."""
