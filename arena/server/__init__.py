"""The acting half of the arena: the only code that waits or reads a clock.

A bot's conversation is a session (`sessions`); bots wait in queues until the matchmaker seats them (`matchmaking`). A
match is driven from its ready check to its record (`matches`). `runtime` has turns and timers, `workers` the processes
of house bots, `ratings` the fitted ladders. It knows nothing of gRPC: a bot is a `Link` that messages go in and out of.
"""
