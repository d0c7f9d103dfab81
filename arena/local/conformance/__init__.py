"""Conformance of a bot in any language: conversations with the parts of a real server, and what each asks."""
