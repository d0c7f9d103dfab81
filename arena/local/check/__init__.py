"""Checks that a bot in any language follows the protocol, by conversations with the parts of a real server."""
