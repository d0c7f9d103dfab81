"""The verbs that show, compare and export replays, and explain losses."""
