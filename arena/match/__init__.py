"""One match as a state machine without I/O: timestamped inputs in, effects out.

It never waits, reads no clock, draws no random numbers, and never raises because of anything a bot can cause.
"""
