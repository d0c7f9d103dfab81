"""Storage of replays in files."""
