"""The learner in `examples/` on a real server: many concurrent matches, and one network pass for each batch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cli.cli_rig import PATIENCE, serving, shown

LEARNER: Final = Path(__file__).parents[2] / "examples" / "learner"
MATCHES: Final = 6
AT_ONCE: Final = 6
DECISIONS: Final = 121
"""Number of a seat's decisions in a match: twenty bids and 101 cards."""
COUNTED: Final = """
import json, sys
import bot, encoding, network, numpy, weights
from arena_client import run
from pathlib import Path

address, folder = sys.argv[1], Path(sys.argv[2])
size = encoding.Encoding(bot.SEATS).size
weights.write(network.new_weights(numpy.random.default_rng(1), size, 16, encoding.CHOICES), folder / "network.npz")
bot.HERE, bot.NETWORK = folder, "network.npz"
asked, passes, best = [], [], bot.best

class Counted(bot.LearnerBot):
    version, files, capacity = "counted", (), int(sys.argv[4])

    def decide_many(self, decisions):
        asked.append(len(decisions))
        return super().decide_many(decisions)

def counted(weights, encoding, observations, masks):
    passes.append(len(observations))
    return best(weights, encoding, observations, masks)

bot.best = counted
run(Counted(), address, token_file=folder / "token", matches=int(sys.argv[3]), verbose=False)
print(json.dumps([asked, passes]))
"""

pytestmark = pytest.mark.process


def test_it_answers_many_matches_at_once_in_one_pass(tmp_path: Path) -> None:
    """The network is untrained, because its choices do not matter here."""
    with serving(tmp_path / "data", "--seats", "2", "--game", "nullern") as running:
        other = [sys.executable, "-m", "arena_client.samples.rule_bot", "--quiet", "--server", running.server]
        other += ["--capacity", str(AT_ONCE), "--token-file", str(tmp_path / "rules.token"), "--game", "nullern"]
        words = [running.server, str(tmp_path), str(MATCHES), str(AT_ONCE)]
        with subprocess.Popen(other) as rules:
            try:
                ran = subprocess.run(
                    [sys.executable, "-c", COUNTED, *words],
                    capture_output=True,
                    text=True,
                    timeout=PATIENCE,
                    check=False,
                    cwd=LEARNER,
                )
            finally:
                rules.kill()
        assert ran.returncode == 0, ran.stderr
        words = ["--server", running.server, "--bot", "learner", "--limit", "100", "--json"]
        matches = json.loads(shown("matches", *words))["matches"]
    asked, passes = json.loads(ran.stdout)
    assert asked == passes, "each batch is one pass"
    assert max(passes) > 1
    finished = [match for match in matches if match["state"] == "finished"]
    assert len(finished) >= MATCHES
    own = [seat for match in finished for seat in match["seats"] if seat["bot"] == "learner"]
    assert not any(seat["forced"] for seat in own)
    assert sum(passes) >= MATCHES * DECISIONS
