"""Helper processes of a program: start, framed messages, deadline, restart with back-off, end with the parent.

`helper` and, without an event loop, `launch` start a process; `channel` and `calls` exchange messages with it.
`parent` and `supervised` run inside it. `memory` manages the memory of the current process. This package imports no
other package of the arena and does not interpret messages.
"""
