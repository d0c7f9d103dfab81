"""The last tricks of a round, solved: the value of every choice when all hands are known.

The solver works for every game of the engine: the caller defines the points of a round.
"""
