"""Bots that play over a WebSocket: the relay between their frames and the server."""
