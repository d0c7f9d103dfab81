"""Turns, timers and the wall clock: the parts of the server that wait and read time."""
