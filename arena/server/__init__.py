"""The acting half of the arena: the only code that waits or reads a clock.

A session is a bot's conversation (`sessions`). Bots wait in queues until the matchmaker seats them (`matchmaking`). A
match is driven from its ready check to its record (`matches`). `runtime` has turns and timers, `workers` the processes
of house bots, and `ratings` the fitted ladders. Nothing here knows gRPC: messages to and from a bot go through a
`Link`.
"""
