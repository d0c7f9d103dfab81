"""Adapters of the games to other libraries, one module each. Importing a module requires its library."""
