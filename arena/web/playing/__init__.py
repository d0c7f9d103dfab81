"""The relay between the server and bots that play over a WebSocket."""
