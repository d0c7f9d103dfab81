"""gRPC over HTTP/2 on trio: sockets, frames, streams, calls, health, reflection. Imports nothing of the arena.

`listener` accepts sockets and reads them in turns, each `connection` passes its bytes to `http2`, which cuts them into
frames of streams; `grpc_stream` makes messages of these, and `grpc_server` runs a handler for each call. A handler sees
a `call` and never a frame or a socket.
"""
