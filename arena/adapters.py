"""Former location of `engine.adapters`. Importing it raises an ImportError that names the new location."""

raise ImportError(
    "arena.adapters is engine.adapters: import that, and install its libraries with pip install './engine[pettingzoo]'"
)
