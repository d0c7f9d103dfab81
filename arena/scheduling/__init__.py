"""Match scheduling: the choice of opponents, computed from available bots, ladder figures and given randomness, without
clock or I/O.
"""
