"""The last tricks of a round, solved: the value of every choice when all hands are known.

It knows the engine's contract and no game: the caller says what a round is worth.
"""
