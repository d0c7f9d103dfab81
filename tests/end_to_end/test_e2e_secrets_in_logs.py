"""A server never logs a token, an invitation, a seed or a nonce in any situation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from arena_client.v1 import play_pb2 as pb

from tests.end_to_end.e2e_rig import ARENA, PATIENCE, ROOT, Crowd, Ended, RawBot, server, until

FAULTY = """
import sys
from arena.cli.operate import serve
from arena.house import HOUSE_BOTS
from arena.store.matches import matches

def fault(*arguments, **others):
    raise RuntimeError("a fault of ours")

for bots in HOUSE_BOTS.values():
    for bot in bots:
        type(bot).decide = fault           # in the middle of a match, with a view at hand
finish = matches.finish
def finish_or_fail(connection, match, **result):
    if match % 2:
        fault()
    return finish(connection, match, **result)
matches.finish = finish_or_fail            # at its end, with its replay at hand
sys.stderr.isatty = lambda: "--log-json" not in sys.argv  # for people there are colours and drawn tracebacks
serve.command(sys.argv[1:])
"""


def nonces(bot: RawBot, secrets: set[bytes]) -> None:
    """A bot that accepts invitations with nonces and records the nonces."""
    bot.accepts = False
    for invitation in bot.invitations:
        nonce = os.urandom(16)
        secrets.add(nonce)
        bot.send(pb.PlayRequest(ready=[pb.Ready(invitation_id=invitation.invitation_id, nonce=nonce)]))
    bot.invitations.clear()


def seeds(data: Path) -> set[bytes]:
    """Return the seeds of the matches in the journal, including running ones."""
    found: set[bytes] = set()
    for path in (data / "journal").rglob("*.log"):
        for line in path.read_text().splitlines():
            found.update(bytes.fromhex(text) for text in re.findall(r'"seed":"([0-9a-f]+)"', line))
    return found


@pytest.mark.parametrize("form", [(), ("--log-json",)], ids=["for people", "JSON"])
def test_no_secret_is_ever_logged(tmp_path: Path, form: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--debug", "--house", "--house-workers", "0", "--patience", "0", *form)
    monkeypatch.setenv("GRPC_VERBOSITY", "debug")
    (tmp_path / "faulty.py").write_text(FAULTY)
    program = (sys.executable, str(tmp_path / "faulty.py"))
    secrets: set[bytes] = set()
    with (
        server(tmp_path / "data", *options, program=program) as running,
        Crowd(running.address) as crowd,
    ):
        operator = (running.data / "operator.token").read_text()
        command = [str(ARENA), "bots", "invite", "--owner", "ann", "--data", str(running.data)]
        told = subprocess.run(
            [*command, "--json"],
            check=True, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT,
        )  # fmt: skip
        ann = crowd.come("ann")
        guess = "arena_" + "guess" * 8
        with suppress(Ended):
            crowd.stranger(guess).read()
        while len(ann.reports) < 2:
            ann.read_until(lambda: ann.invitations or ann.decisions or len(ann.reports) >= 2)
            nonces(ann, secrets)
            due, ann.decisions = ann.decisions, []
            if due:
                ann.answer(*due)
        until(lambda: "a fault of the server: the match is void" in running.log, "the fault at the end")
        assert "a house bot failed" in running.log
        assert "a fault of ours" in running.log
        bad = crowd.come("bad")
        bad.send(b"\xff\xff\xff")
        bad.last_word()
        renewed = subprocess.run(
            [str(ARENA), "bots", "rotate", "ann", "--data", str(running.data)],
            check=True, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT,
        )  # fmt: skip
        texts = {operator, guess, renewed.stdout.strip(), json.loads(told.stdout)["invitation"], *crowd.tokens.values()}
        secrets |= seeds(running.data)
        running.signal(15)
        assert running.ended() == 0
        log = running.log
    assert len(secrets) >= 4, "seeds and nonces were found"
    texts |= {text.partition("_")[2] for text in texts}
    for secret in secrets:
        texts |= {secret.hex(), repr(secret)[2:-1], str(list(secret))}
    assert [text for text in texts if text in log] == []
