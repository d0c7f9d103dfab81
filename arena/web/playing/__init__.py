"""The relay between bots that play over a WebSocket and the server."""
