"""A finished match as text: record it, read it, verify it, look at it. docs/replay-format.md describes the format."""
