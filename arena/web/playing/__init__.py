"""Bots that play over a WebSocket: at which sites, and what is relayed to the server."""
