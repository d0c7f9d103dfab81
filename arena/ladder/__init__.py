"""Computation of ratings from results: live Elo, the Bradley–Terry fit, errors and standings.

No I/O, no clock, no randomness.
"""
