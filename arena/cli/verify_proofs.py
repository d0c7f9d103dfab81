"""What shows that a replay is what was played: the receipt and the log that `arena replay verify` was told to ask."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.client.proofs import LogProof, NotProved, compare_log, compare_receipt, find_receipt
from arena.log.receipt import Receipt

if TYPE_CHECKING:
    from arena.client.proofs import LogSource
    from arena.replay.replay import Replay


@dataclass(frozen=True, slots=True)
class Proofs:
    """What bears a replay out."""

    receipt: Receipt | None = None
    log: LogProof | None = None
    problem: str = ""
    """Why it is not borne out, or nothing shows that it is; empty where all that was asked bears it out."""


def prove(replay: Replay, receipts: Path | None, source: LogSource | None) -> Proofs:
    """Ask receipts and log, where they are given; errors of the log's source are its own."""
    receipt, log = None, None
    try:
        if receipts is not None:
            found = find_receipt(replay, receipts)
            compare_receipt(replay, found)
            receipt = found
        if source is not None:
            log = compare_log(replay, source, receipt)
    except NotProved as why:
        return Proofs(receipt, log, str(why))
    return Proofs(receipt, log)
