"""One local game: players, table and referee."""
