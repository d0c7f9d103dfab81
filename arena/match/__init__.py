"""One match as a state machine without input or output: stamped inputs in, effects out.

It waits for nothing, reads no clock, draws no chance and never raises on anything a bot can cause.
"""
