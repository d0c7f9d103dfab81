"""What must not be lost: bots, results, ratings and replays in one SQLite file, and whoever alone writes it."""
