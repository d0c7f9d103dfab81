"""Arithmetic over results: live Elo, standings, who plays whom. No input or output, no clock, no chance of its own."""
