"""HTTP/2 on trio: sockets, TLS, frames and streams."""
