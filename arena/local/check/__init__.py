"""Checks that a bot in any language follows the protocol, in conversations with the parts of a real server."""
