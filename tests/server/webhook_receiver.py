"""A receiver of messages to a webhook: a real HTTP server that can fail."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


def status(number: int, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(number)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()

    return answer


class Receiver:
    """An HTTP server that first sends the given responses, then accepts everything."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.got: list[tuple[bytes, str]] = []
        """Every received body with its signature, whether or not it was accepted."""
        self.accepted: list[dict[str, Any]] = []

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        self.got.append((body, handler.headers["Arena-Signature"]))
        if self.answers:
            self.answers.pop(0)(handler)
        else:
            self.accepted.append(json.loads(body))
            status(204)(handler)


@contextmanager
def receiving(receiver: Receiver, port: int = 0, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Run a receiver during the `with` block. Yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.handle(self)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/arena?room=2"
        finally:
            server.shutdown()
            thread.join()
