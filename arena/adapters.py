"""The former place of the modules of `engine.adapters`."""

raise ImportError(
    "arena.adapters is engine.adapters: import that, and install its libraries with pip install './engine[pettingzoo]'"
)
