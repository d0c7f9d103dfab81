"""Messages to the operator's webhook: numbered, signed with the log's key, and delivered in order.

A file contains the undelivered messages, so that a restart loses none. One thread writes this file, another delivers.
Neither the server's loop nor its matches ever wait for them. A receiver can get a message twice, with the same number.
"""

from __future__ import annotations

import json
import os
import secrets
import ssl
from base64 import b64encode
from collections import deque
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from pathlib import Path
from queue import SimpleQueue
from socket import SHUT_RDWR, socket
from threading import Condition, Thread, Timer
from time import monotonic
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import structlog
import trio

from arena.log.keys import HeadSigner
from arena.server.runtime.wall_clock import now_us
from arena.store.base.errors import StoreUnusable, file_error
from arena.version import __version__

FILE: Final = "webhook.jsonl"
NODE_FILE: Final = "webhook-{}.jsonl"
"""Name of the file of every node except the first."""
VERSION: Final = 1
"""Version of the message format."""
MOST: Final = 1000
"""Maximum number of undelivered messages."""
OLDEST: Final = 24 * 3600 * 1_000_000
"""Maximum age of an undelivered message, in microseconds."""
APPENDED: Final = 2 * MOST
"""Number of appended lines after which the file is rewritten."""
TIMEOUT: Final = 10.0
"""Time limit for a delivery, in seconds."""
FIRST_WAIT: Final = 1.0
"""Seconds between the first failure of a delivery and the next attempt. The pause doubles with each further failure."""
LONGEST_WAIT: Final = 300.0
LAST: Final = 1.0
"""Maximum number of seconds that a stopping server waits for a delivery in progress."""
_HERE: Final = "localhost"

log = structlog.get_logger(__name__)


class WebhookError(ValueError):
    """An address is not a valid webhook address. The message gives the reason and the remedy."""


class DeliveryError(Exception):
    """A receiver did not accept a message. The message gives the reason."""


class Address(NamedTuple):
    """The parsed address of a webhook."""

    tls: bool
    host: str
    port: int | None
    target: str
    """Path and query."""


def file_of(node: int | None) -> str:
    """Return the name of the file for a server's messages. `node`: its number, if it is one of several nodes.

    Each node numbers its messages in a series of its own.
    """
    return FILE if node in {None, 1} else NODE_FILE.format(node)


def webhook_address(webhook: str) -> Address:
    """Parse the setting `webhook`. Raises: WebhookError."""
    if not webhook.isascii() or not webhook.isprintable() or " " in webhook:
        raise WebhookError(f"{webhook!r} has characters that no address has; write them as %XX")
    try:
        parts = urlsplit(webhook)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise WebhookError(f"{webhook!r} is no address: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise WebhookError(f"{webhook!r} is no address of a webhook, such as https://club.example/arena")
    if parts.username is not None or parts.password is not None:
        shown = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        raise WebhookError(f"{shown!r} is preceded by credentials: leave them out; every message is signed instead")
    if parts.fragment:
        raise WebhookError(f"{webhook!r} has a part after #, which is never sent: leave it out")
    if parts.scheme == "http" and not _on_this_machine(host):
        raise WebhookError(f"{webhook!r} would leave this machine in clear text: use https")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(parts.scheme == "https", host, port, target)


def _on_this_machine(host: str) -> bool:
    try:
        return host == _HERE or ip_address(host).is_loopback
    except ValueError:
        return False


class WaitingMessages:
    """The undelivered messages in a file. The first line describes the series; then come messages and the numbers of
    delivered messages.
    """

    def __init__(self, path: Path) -> None:
        """Read the file, or start a new series of numbers. Raises: StoreUnusable, DiskFull."""
        self._path: Final = path
        self.series = secrets.token_hex(8)
        """Id of the series. A new series starts with number 1, for example after the file was lost."""
        self.next = 1
        """Number of the next message."""
        self.messages: deque[dict[str, Any]] = deque()
        try:
            lines = path.read_bytes().split(b"\n")[:-1]  # A kill can leave an unfinished last line.
        except FileNotFoundError:
            lines = []
        except OSError as error:
            raise file_error(path, error) from error
        if lines:
            self._read(lines)
        self._file: int | None = None
        self._appended = 0
        try:
            self._rewrite()
        except OSError as error:
            raise file_error(path, error) from error

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def add(self, kind: str, at: int, fields: Mapping[str, Any]) -> None:
        """Add a message, and drop the oldest messages beyond the limits."""
        message = {"number": self.next, "kind": kind, "at": at, **fields}
        self.next += 1
        self.messages.append(message)
        self._append(message)
        self.drop(at)

    def delivered(self, number: int) -> None:
        """Remove a delivered message, which is the first one, unless it was dropped meanwhile."""
        if self.messages and self.messages[0]["number"] == number:
            self.messages.popleft()
            self._append({"gone": number})

    def drop(self, now: int) -> None:
        """Drop the oldest messages beyond the limits of number and age."""
        dropped = []
        while self.messages and (len(self.messages) > MOST or self.messages[0]["at"] < now - OLDEST):
            dropped.append(self.messages.popleft()["number"])
        if dropped:
            self._append({"gone": dropped[-1]})
            log.error(
                "messages to the webhook are lost", first=dropped[0], last=dropped[-1], waiting=len(self.messages)
            )

    def _read(self, lines: list[bytes]) -> None:
        try:
            head = json.loads(lines[0])
            self.series, self.next = str(head["series"]), int(head["next"])
            for line in map(json.loads, lines[1:]):
                if (gone := line.get("gone")) is None:
                    self.messages.append(line)
                    self.next = line["number"] + 1
                while gone is not None and self.messages and self.messages[0]["number"] <= gone:
                    self.messages.popleft()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = f"it does not hold messages to a webhook ({error}); move it away, and they are lost"
            raise StoreUnusable(self._path, reason) from None

    def _append(self, line: Mapping[str, Any]) -> None:
        """Append a line. If that fails, rewrite the file at the next change."""
        try:
            if self._file is None or self._appended >= APPENDED:
                self._rewrite()
            else:
                content = _encoded(line)
                if os.write(self._file, content) != len(content):
                    raise OSError("the disk is full")
                os.fsync(self._file)
                self._appended += 1
        except OSError as error:
            self.close()
            log.error("messages to the webhook wait in memory only", file=str(self._path), error=str(error))

    def _rewrite(self) -> None:
        self.close()
        new = self._path.with_name(f"{self._path.name}.new")
        new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            head = {"arena_webhook": VERSION, "series": self.series, "next": self.next}
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.writelines(map(_encoded, (head, *self.messages)))
            os.fsync(descriptor)
            new.replace(self._path)
        except BaseException:
            os.close(descriptor)
            raise
        self._file, self._appended = descriptor, 0


class Webhook:
    """The webhook of a server."""

    def __init__(self, webhook: str, path: Path, signer: HeadSigner, first_wait: float = FIRST_WAIT) -> None:
        """Deliver to the address `webhook`. Undelivered messages are stored in the file `path`.

        Raises: WebhookError, StoreUnusable, DiskFull.
        """
        self._address: Final = webhook_address(webhook)
        self._signer: Final = signer
        self._first_wait: Final = first_wait
        self._waiting: Final = WaitingMessages(path)
        self._changed: Final = Condition()
        """Notified of each new message and of the stop. Its lock guards the undelivered messages."""
        self._posted: Final = SimpleQueue[tuple[str, int, "Mapping[str, Any]"] | None]()
        self._stopped = False
        self._context: Final = ssl.create_default_context() if self._address.tls else None

    def post(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Queue a message and return at once."""
        self._posted.put((kind, now_us(), fields))

    async def run(self) -> None:
        """Deliver until cancelled. Afterwards every message is either delivered or in the file."""
        keeper = Thread(target=self._keep, name="webhook-file", daemon=True)
        sender = Thread(target=self._deliver, name="webhook", daemon=True)
        keeper.start()
        sender.start()
        try:
            await trio.sleep_forever()
        finally:
            self._posted.put(None)
            keeper.join()
            with self._changed:
                self._stopped = True
                self._changed.notify()
            sender.join(LAST)
            with self._changed:
                self._waiting.close()

    def _keep(self) -> None:
        """Store every posted message in the file."""
        while (posted := self._posted.get()) is not None:
            kind, at, fields = posted
            with self._changed:
                self._waiting.add(kind, at, fields)
                self._changed.notify()

    def _deliver(self) -> None:
        """Deliver the queued messages in order."""
        failures, due = 0, monotonic()
        while True:
            with self._changed:
                while not self._stopped and (not self._waiting.messages or monotonic() < due):
                    self._changed.wait(due - monotonic() if self._waiting.messages else None)
                if self._stopped:
                    return
                self._waiting.drop(now_us())
                if not self._waiting.messages:
                    continue
                message = self._waiting.messages[0]
                head = {"arena_webhook": VERSION, "log": self._signer.log, "series": self._waiting.series}
                body = _encoded(head | message)
            try:
                self._send(body)
            except DeliveryError as error:
                wait = min(self._first_wait * 2**failures, LONGEST_WAIT)
                failures, due = min(failures + 1, 30), monotonic() + wait
                report = log.debug if failures > 1 else log.warning
                report("webhook not delivered", number=message["number"], error=str(error), retry_in=wait)
                continue
            if failures:
                log.info("webhook delivered again", number=message["number"])
            failures = 0
            with self._changed:
                if not self._stopped:  # After a stop, the next server delivers the message again.
                    self._waiting.delivered(message["number"])

    def _send(self, body: bytes) -> None:
        """Send a message, without following redirects or using a proxy. Raises: DeliveryError."""
        tls, host, port, target = self._address
        if tls:
            connection: HTTPConnection = HTTPSConnection(host, port, timeout=TIMEOUT, context=self._context)
        else:
            connection = HTTPConnection(host, port, timeout=TIMEOUT)
        limit = Timer(TIMEOUT, _cut, (connection,))
        limit.daemon = True
        limit.start()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"arena/{__version__}",
            "Arena-Signature": b64encode(self._signer.sign_message(body)).decode(),
            "Connection": "close",
        }
        try:
            connection.request("POST", target, body, headers)
            status = connection.getresponse().status
        except (OSError, HTTPException, ValueError) as error:
            raise DeliveryError(str(error) or type(error).__name__) from None
        finally:
            limit.cancel()
            connection.close()
        if not 200 <= status < 300:
            redirect = ", and redirects are not followed" if 300 <= status < 400 else ""
            raise DeliveryError(f"the receiver answered {status}{redirect}")


def _cut(connection: HTTPConnection) -> None:
    """End a delivery that takes too long, even if the receiver answers byte by byte."""
    if isinstance(connection.sock, socket):
        try:
            # Shut down the plain socket, not its TLS layer, which another thread is using.
            socket.shutdown(connection.sock, SHUT_RDWR)
        except OSError:
            return


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
