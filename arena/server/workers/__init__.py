"""Worker processes: choices of house bots, and replays of deals for the luck column."""
