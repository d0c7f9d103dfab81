"""Finished matches as text: recording, reading, verifying, rendering. docs/replay-format.md describes the format."""
