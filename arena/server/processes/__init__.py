"""The matches and connections of one server, distributed over several processes.

The first process decides who may connect, who plays whom, and what is stored and rated. A further process serves
connections and plays the matches that the first process assigns to it, with a journal of its own. If a bot's connection
and its match are in the same process, a decision never leaves it. Otherwise it crosses once each way, as bytes, in one
frame per turn. Everything else that a bot sends, and whether it is connected, is reported to the first process.

`line` connects two processes; `first` and `further` are its ends. `remote_session` and `remote_match` represent a bot's
connection and a match in a process that does not hold them.
"""
