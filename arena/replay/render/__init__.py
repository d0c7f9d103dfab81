"""Replays as tables in the terminal, drawn with Rich; each game has its own renderer."""
