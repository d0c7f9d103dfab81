"""Diagnosis of permanent errors if the first connection fails: an unknown host, or TLS on one side only."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl

from arena_client.options import Tls

PATIENCE = 3.0
"""Time limit in seconds for the other side to show its protocol."""
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""The beginning of HTTP/2 and an empty settings frame. A server without TLS answers with its own settings."""
_SETTINGS = 4


async def obstacle(address: str, tls: Tls) -> str:
    """Describe a permanent connection error and its remedy; empty if a retry may succeed."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    if not host or re.match(r"(unix|unix-abstract|vsock|xds|dns|ipv4|ipv6):", address):
        return ""
    try:
        await asyncio.get_running_loop().getaddrinfo(host, int(port), type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)):
            return f"there is no host {host!r}: check the address {address}"
        return ""
    except UnicodeError:
        return f"{host!r} can be no host: check the address {address}"
    try:
        async with asyncio.timeout(PATIENCE):
            if not tls:
                speaks_tls = await _speaks_tls(host, int(port))
                wants = f"the server at {address} wants TLS: --tls or tls=True, and --tls-roots for its authority"
                return wants if speaks_tls else ""
            if await _speaks_plainly(host, int(port)):
                return f"the server at {address} has no TLS: leave --tls, --tls-roots and tls= out"
            context = ssl.create_default_context(cafile=None if tls is True else str(tls))
            _, writer = await asyncio.open_connection(host, int(port), ssl=context)
            writer.close()
    except ssl.SSLCertVerificationError as error:
        why = error.verify_message.rstrip(".")
        return f"the certificate of {address} is not trusted ({why}): --tls-roots or tls= names the authority to trust"
    except (OSError, TimeoutError, asyncio.IncompleteReadError):
        pass
    return ""


async def _speaks_tls(host: str, port: int) -> bool:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # No secret is sent.
    context.set_alpn_protocols(["h2"])
    try:
        _, writer = await asyncio.open_connection(host, port, ssl=context)
    except ssl.SSLError:
        return False
    writer.close()
    return True


async def _speaks_plainly(host: str, port: int) -> bool:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(_PREFACE)
        return (await reader.readexactly(9))[3] == _SETTINGS
    except (asyncio.IncompleteReadError, ConnectionError):  # The server expected a TLS handshake.
        return False
    finally:
        writer.close()
