"""Turns, timers and the wall clock."""
