"""The rules of the games, in pure Python without other packages, clock, random numbers, input or output."""
