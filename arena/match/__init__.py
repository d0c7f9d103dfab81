"""One match as a state machine without I/O: timestamped inputs in, effects out.

It never waits, reads no clock, draws no random numbers, and never raises an exception because of a bot's action.
"""
