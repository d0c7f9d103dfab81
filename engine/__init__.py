"""The rules of the games: pure Python, standard library only. No clock, no chance, no input or output."""
