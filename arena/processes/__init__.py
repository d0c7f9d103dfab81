"""Helper processes of a program: start, framed messages, deadline, restart with back-off, end with the parent.

`helper` and `fork` start a process, `channel` and `calls` exchange messages with it, `restart` keeps it running;
`parent` and `supervised` run inside it. `huge_pages` is about the memory of whatever process runs it. This package
imports nothing else of the arena and does not interpret messages.
"""
