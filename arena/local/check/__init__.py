"""Checks that a bot in any language keeps the protocol, by conversations with the parts of a real server."""
