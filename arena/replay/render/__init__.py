"""Replays as tables in the terminal. The only part of the replays that knows Rich; each game has its own renderer."""
