"""Turns, timers and the wall clock: where the server waits and reads time."""
