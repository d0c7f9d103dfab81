"""Errors of the learner in `examples/`. Each names the wrong value and the remedy."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from arena_client import Catalog, Decision, SixthSenseView
from arena_client.v1.game_pb2 import GameCatalog

from arena.api.game_codecs import encode_catalog
from arena.api.sixth_sense import encode_view
from engine.adapters.seeds import SeedError
from engine.adapters.vector_env import MaskError
from engine.deal import SeededDecks
from engine.registry import GAMES

LEARNER: Final = Path(__file__).parents[2] / "examples" / "learner"
PATIENCE: Final = 300
SMALL: Final = ("--games", "16", "--hidden", "32", "--deals", "2", "--measured", "0")

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def _its_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import the learner's modules as its programs do: from its folder."""
    monkeypatch.syspath_prepend(str(LEARNER))


def new_network(folder: Path) -> Path:
    """Return the file of an untrained network."""
    from encoding import CHOICES, Encoding
    from network import new_weights
    from weights import write

    write(new_weights(np.random.default_rng(1), Encoding(2).size, 8, CHOICES), folder / "network.npz")
    return folder / "network.npz"


def test_numbers_that_are_no_observations() -> None:
    from encoding import Encoding, ObservationError

    encoding = Encoding(2)
    for numbers, words in (
        (np.zeros((3, encoding.numbers - 1), np.float32), "float32 of shape"),
        (np.zeros((3, encoding.numbers)), "not float64 of shape"),
        (np.zeros(encoding.numbers, np.float32), rf"not float32 of shape \({encoding.numbers},\)"),
    ):
        with pytest.raises(ObservationError, match=words):
            encoding.features(numbers)
    with pytest.raises(ObservationError, match="for 2 to 7 seats, not 8"):
        Encoding(8)


def test_masks_that_are_none() -> None:
    from encoding import ACTIONS, Encoding, IllegalMaskError

    encoding = Encoding(2)
    observations, masks = np.zeros((2, encoding.numbers), np.float32), np.zeros((2, ACTIONS), np.uint8)
    masks[0, 3] = 1
    with pytest.raises(IllegalMaskError, match="mask 1 allows no action"):
        encoding.choices(observations, masks)
    with pytest.raises(IllegalMaskError, match=rf"of shape \(2, {ACTIONS}\), not \(2, {ACTIONS - 1}\)"):
        encoding.choices(observations, masks[:, 1:])
    masks[1, 4] = 1
    assert encoding.actions(observations, masks, np.array([3, 4])).tolist() == [3, 4]
    with pytest.raises(IllegalMaskError, match="mask 1 does not allow choice 3"):
        encoding.actions(observations, masks, np.array([3, 3]))


def test_a_batch_with_a_choice_that_was_not_open() -> None:
    from encoding import CHOICES, Encoding
    from learning import Settings, learn
    from network import Adam, new_weights
    from selfplay import play

    weights = new_weights(np.random.default_rng(1), Encoding(2).size, 8, CHOICES)
    before = [each.copy() for each in weights]
    batch = play(weights, 1, 2, 2)
    batch.chosen[5] = int(np.argmin(batch.open[5]))
    with pytest.raises(MaskError, match="a choice that was not open"):
        learn(weights, Adam(weights), batch, Settings(), 0.0, 1)
    assert all((one == other).all() for one, other in zip(weights, before, strict=True)), "nothing was learned of it"


@pytest.mark.parametrize("seed", [-1, 1 << 63, 0.5])
def test_a_seed_out_of_range(tmp_path: Path, seed: Any) -> None:
    from training import Asked, train

    with pytest.raises(SeedError, match="a seed is"):
        train(Asked(batches=1, games=1, hidden=8, seed=seed), tmp_path, beside=False)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["half", "empty", "text", "another array", "another table", "not finite"])
def test_a_network_that_is_torn_or_another(tmp_path: Path, damage: str) -> None:
    from encoding import CHOICES, Encoding
    from network import new_weights
    from weights import WeightsError, read, write

    file = new_network(tmp_path)
    size = Encoding(2).size
    assert len(read(file, size)) == 6
    if damage == "half":
        os.truncate(file, file.stat().st_size // 2)
    elif damage == "empty":
        os.truncate(file, 0)
    elif damage == "text":
        file.write_text("no network")
    elif damage == "another array":
        np.savez(file, features=np.zeros(3))
    elif damage == "another table":
        write(new_weights(np.random.default_rng(1), Encoding(4).size, 8, CHOICES), file)
    else:
        weights = read(file, size)
        weights[0][0, 0] = np.nan
        write(weights, file)
    with pytest.raises(WeightsError, match=r"network\.npz is no network for this game and table \(.+\): train\.py"):
        read(file, size)


def test_the_bot_ends_with_a_line_where_its_network_is_torn(tmp_path: Path) -> None:
    project = tmp_path / "learner"
    shutil.copytree(LEARNER, project, ignore=shutil.ignore_patterns("trained", "__pycache__"))
    (project / "trained").mkdir()
    file = new_network(project / "trained")
    os.truncate(file, file.stat().st_size // 2)
    ran = subprocess.run(
        [sys.executable, str(project / "bot.py")], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"Error: {file} is no network for this game and table")
    assert "Traceback" not in ran.stderr


def test_a_view_of_another_game_is_no_silent_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import bot
    from encoding import ObservationError

    new_network(tmp_path)
    monkeypatch.setattr(bot, "HERE", tmp_path)
    monkeypatch.setattr(bot, "NETWORK", "network.npz")
    game = GAMES["sixth_sense"]
    state: Any = game.new(2, SeededDecks(bytes(32)))
    view = SixthSenseView.FromString(encode_view(state.view(state.player)))
    catalog = Catalog.of(GameCatalog.FromString(encode_catalog(game).SerializeToString()))
    decision = Decision(1, 1, catalog, view, [*state.legal(state.player)], 1000, 1000)
    with pytest.raises(ObservationError, match="a SixthSenseView is no view of Nullern"):
        bot.LearnerBot(version="tried").decide_many([decision])


def test_a_player_that_died() -> None:
    from encoding import CHOICES, Encoding
    from network import new_weights
    from player import Player, PlayerDiedError

    player = Player(2, 2, beside=True)
    try:
        os.kill(player._process.pid or 0, signal.SIGKILL)
        player._process.join(PATIENCE)
        with pytest.raises(PlayerDiedError, match="ended with status -9: start again to go on"):
            player.fetch()
        with pytest.raises(PlayerDiedError, match="ended with status -9: start again to go on"):
            player.ask(new_weights(np.random.default_rng(1), Encoding(2).size, 8, CHOICES), 1)
    finally:
        player.close()


def test_a_training_whose_player_is_killed_says_so_and_goes_on_when_started_again(tmp_path: Path) -> None:
    words = [sys.executable, str(LEARNER / "train.py"), "--out", str(tmp_path / "trained"), *SMALL, "--batches", "30"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as training:
        until = time.monotonic() + PATIENCE
        while not (tmp_path / "trained" / "training.npz").exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        (player,) = players_of(training.pid)
        os.kill(player, signal.SIGKILL)
        _, said = training.communicate(timeout=PATIENCE)
    assert training.returncode == 1
    assert said == "Error: the process that plays ended with status -9: start again to go on\n"
    ran = subprocess.run(words, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert ran.stdout.startswith(("batch 10 of 30", "batch 20 of 30"))


def players_of(pid: int) -> list[int]:
    """Return the player processes of a training run, without the process that tracks its shared memory."""
    children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
