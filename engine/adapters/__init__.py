"""Adapters of the games to other libraries, one module each. Importing one needs its library installed."""
