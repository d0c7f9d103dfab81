"""The matches and the connections of one server in several processes.

The first process decides: who may connect, who plays whom, what is stored and rated. A further one serves connections
and plays matches that the first gives it, with a journal of its own. What a decision goes through stays in one process
where the bot's connection and its match are in the same; else it crosses once each way, as bytes, in a frame a turn.
Everything else that a bot says, and whether it is there, goes to the first process.

`line` is the way between two processes; `first` and `further` are its ends; `remote_session` and `remote_match` are a
bot's connection and a match as they are seen from the other process.
"""
