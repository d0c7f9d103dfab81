"""The last tricks of a round worked out to the end: what every choice comes to when all hands are known.

It knows the engine's contract and no game: what a round is worth is told by the caller.
"""
