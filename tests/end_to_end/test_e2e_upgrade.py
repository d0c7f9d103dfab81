"""A server on a data directory of the oldest supported schema, upgraded during a match."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.e2e_rig import audit, server, until
from tests.store.recorded import recorded_directory

pytestmark = pytest.mark.process


def test_a_match_that_the_older_server_left_running_goes_on(tmp_path: Path) -> None:
    recorded_directory(tmp_path / "data")
    with server(tmp_path / "data", "--game", "sixth_sense") as running:
        [resumed] = [line for line in running.log.splitlines() if '"match resumed"' in line]
    assert '"match_id": 5, "inputs": 35,' in resumed


@pytest.mark.long
def test_a_match_that_the_older_server_left_running_is_played_to_its_end(tmp_path: Path) -> None:
    recorded_directory(tmp_path / "data")
    limits = ("--restart-hold", "0.2", "--soft-limit", "0.2", "--bank", "0.2", "--grace", "1")
    with server(tmp_path / "data", "--debug", "--game", "sixth_sense", *limits) as running:
        until(lambda: '"match over"' in running.log, "the end of match 5")
    found = audit(tmp_path / "data")
    assert sorted(found.replays) == [1, 2, 3, 4, 5]
    assert (found.interrupted, found.playing) == ([], [])
    assert found.replays[5].result.troubled == (False, True), "Ada did not come back"
