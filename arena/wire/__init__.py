"""The door: the only room that knows gRPC and protobuf, and HTTP/2 below them.

It turns bytes into the server's words and back; it never decides anything about a match. A connection is a line of the
port (`port`, `line`, `tls`), its bytes are frames of streams (`http2`), a stream is a call with messages
(`grpc_stream`), and a call has a handler (`grpc_server`). Above that nobody knows how a message came.
"""
