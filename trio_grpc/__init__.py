"""A gRPC server for trio: gRPC over HTTP/2 in one thread, with limits on the resources that peers use. README.md
introduces it.

`limits` bounds connections, memory and work. In `http2`, the listener accepts sockets and reads them in turns; each
connection passes its bytes to `Http2Connection`, which cuts them into frames of streams. In `grpc`, `GrpcStream` turns
these into messages, and `server` runs a handler for each call. A handler sees a `call` and never a frame or a socket.
"""
