"""Parking from a bot's point of view: real processes, a real socket, and the verbs of operator and author."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from urllib.parse import urlsplit

from arena_client.v1 import play_pb2 as pb

from arena.log.head import webhook_text
from arena.log.keys import Signer, signed
from arena.server.workers.webhook import FILE
from tests.cli.cli_rig import shown
from tests.end_to_end.e2e_rig import IMPATIENT, Crowd, server, until
from tests.server.webhook_receiver import Receiver, receiving

PARKED = pb.NoticeKind.NOTICE_KIND_PARKED


def parked(address: str) -> dict[str, str]:
    rows = json.loads(shown("bots", "list", "--json", "--server", address))["bots"]
    return {row["bot"]: row["parked"] for row in rows if not row["house"]}


def test_it_stays_parked_when_the_server_is_killed_and_the_webhook_gets_both_messages(tmp_path: Path) -> None:
    receiver, waiting = Receiver(), tmp_path / "data" / FILE
    with receiving(Receiver()) as away:
        port = urlsplit(away).port or 0
    with server(tmp_path / "data", "--webhook", away, program=IMPATIENT) as running, Crowd(running.address) as crowd:
        silent, good = crowd.come("silent"), crowd.come("good")
        good.play_in_background()
        silent.read_until(lambda: any(notice.kind == PARKED for notice in silent.notices))
        why = parked(running.address)["silent"]
        until(lambda: "bot_parked" in waiting.read_text(), "the message in its file")
        running.signal(9)
        running.ended()
        tokens = crowd.tokens
    with (
        receiving(receiver, port),
        server(tmp_path / "data", "--webhook", away, program=IMPATIENT) as running,
        Crowd(running.address) as crowd,
    ):
        crowd.tokens |= tokens
        assert parked(running.address)["silent"] == why
        silent = crowd.come("silent")
        silent.read_until(lambda: silent.notices)
        assert why in silent.notices[0].text
        until(lambda: len(receiver.accepted) == 2, "the messages")
        [ladder] = json.loads(shown("ladder", "--json", "--server", running.address))["ladders"][:1]
        pem = (running.data / "log.key").read_bytes()
    first, second = receiver.accepted
    assert (first["number"], first["kind"], first["bot"], first["reason"]) == (1, "bot_parked", "silent", why)
    assert (second["number"], second["kind"], second["ladder"]) == (2, "ladder_published", ladder["game"])
    assert (second["through"], second["series"]) == (ladder["through"], first["series"])
    for body, signature in receiver.got:
        text = webhook_text(first["log"], body)
        assert signed(Signer.read(pem).public, b64decode(signature), text)
