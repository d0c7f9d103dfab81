"""Computation of ratings from results: live Elo, the Bradley–Terry fit, errors and standings.

This package uses no I/O, no clock and no randomness.
"""
