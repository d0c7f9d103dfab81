"""gRPC over HTTP/2: messages, calls, the server, health and reflection."""
