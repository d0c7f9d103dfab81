"""A handwritten WebSocket client for the messages of a browser or of any other program."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Ping,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)

from tests.cli.cli_rig import PATIENCE


class Refusal(Exception):  # noqa: N818 - an event
    """Error for a WebSocket that the server refused to open."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(status, problem)
        self.status = status
        self.problem = problem


class Over(NamedTuple):
    """The end of a WebSocket: its close code and reason."""

    code: int
    reason: str


class Socket:
    """An open WebSocket.

    Raises:
        Refusal: the server refused to open it.
    """

    def __init__(
        self,
        address: str,
        port: int,
        headers: Mapping[str, str] = MappingProxyType({}),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        named = dict(headers)
        place = named.pop("host", f"{address}:{port}")
        self._socket = socket.create_connection((address, port), timeout=PATIENCE)
        if tls is not None:
            self._socket = tls.wrap_socket(self._socket, server_hostname=address)
        self._ws = WSConnection(ConnectionType.CLIENT)
        self._text = ""
        self._content = b""
        self._waiting: list[Any] = []
        extra = [(name.encode(), value.encode()) for name, value in named.items()]
        self._send(Request(host=place, target="/play", extra_headers=extra))
        answer = self._event()
        if isinstance(answer, RejectConnection):
            content = b""
            while isinstance(data := self._event(), RejectData):
                content += data.data
                if data.body_finished:
                    break
            self._socket.close()
            raise Refusal(answer.status_code, json.loads(content or b"{}"))
        assert isinstance(answer, AcceptConnection), answer

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def say(self, message: Any) -> None:
        """Send a text unchanged, bytes as binary, and anything else as JSON."""
        if isinstance(message, bytes):
            self._send(BytesMessage(data=message))
        else:
            self._send(TextMessage(data=message if isinstance(message, str) else json.dumps(message)))

    def hear(self) -> Any:
        """Return the next message, decoded if it is JSON. Return an `Over` after the WebSocket is closed."""
        while True:
            event = self._event()
            match event:
                case TextMessage():
                    self._text += event.data
                    if event.message_finished:
                        text, self._text = self._text, ""
                        return json.loads(text)
                case BytesMessage():
                    self._content += event.data
                    if event.message_finished:
                        content, self._content = self._content, b""
                        return content
                case Ping():
                    self._send(event.response())
                case CloseConnection():
                    return Over(event.code, event.reason or "")

    def end(self) -> tuple[Any, Over]:
        """Return the last message and the close code and reason."""
        last: Any = None
        while not isinstance(heard := self.hear(), Over):
            last = heard
        return last, heard

    def _send(self, event: Any) -> None:
        self._socket.sendall(self._ws.send(event))

    def _event(self) -> Any:
        while not self._waiting:
            some = self._socket.recv(1 << 16)
            if not some:
                return CloseConnection(code=1006)
            self._ws.receive_data(some)
            self._waiting = list(self._ws.events())
        return self._waiting.pop(0)
