"""The server without its transport: the part of the arena that waits and reads clocks.

A session is a bot's conversation (`sessions`). Bots wait in queues until the matchmaker seats them (`matchmaking`). A
match is driven from its ready check to its record (`matches`). `runtime` contains turns and timers, `workers` the
processes of house bots, and `ratings` the fitted ladders. No code here depends on gRPC: messages to and from a bot go
through a `Link`.
"""
