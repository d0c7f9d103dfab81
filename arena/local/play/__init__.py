"""One local game: its players, table and referee."""
