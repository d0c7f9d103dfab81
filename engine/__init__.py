"""The rules of the games, in pure Python, with no other packages and no clock, random numbers, input or output."""
