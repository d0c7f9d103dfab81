"""True if a bot in any language keeps the protocol: conversations with the parts of a real server."""
