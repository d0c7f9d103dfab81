"""The acting half of the house: connected bots, the hall where matches are formed, the floor where they are
played, alarms.

The only code that waits or reads a clock. It knows nothing of gRPC: a bot is a `Link` that messages go in and out of.
"""
