"""The server without its transport. All waiting and all clocks are here.

A session is a bot's conversation (`sessions`). Bots wait in queues until the matchmaker seats them (`matchmaking`). A
match is driven from its ready check to its record (`matches`). `runtime` contains turns and timers, `workers` the
processes of house bots, and `ratings` publishes the ladders. No code here depends on gRPC: messages to and from a bot
go through a `Link`.
"""
