"""Persistent storage of bots, matches, ratings and replays: one database with a single writer."""
