"""Worker processes for the choices of house bots and for replays of deals for the luck column."""
