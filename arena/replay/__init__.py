"""Finished matches as text: recording, reading, verification and rendering. docs/replay-format.md
describes the format.
"""
