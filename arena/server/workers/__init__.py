"""House bots' processes: choices for seats, and deals replayed for the luck column."""
