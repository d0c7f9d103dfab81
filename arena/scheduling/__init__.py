"""Match scheduling: who plays whom, computed from available bots, ladder figures and given randomness, without clock or
I/O.
"""
