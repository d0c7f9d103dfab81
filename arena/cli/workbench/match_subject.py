"""The subject of a match, from the arguments of its command line."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import click

from engine.registry import GAMES

if TYPE_CHECKING:
    from pathlib import Path

    from arena.local.match.sets import Subject


def match_subject(
    compared: tuple[str, ...],
    round_robin: bool,
    game: str,
    seats: int | None,
    options: tuple[str, ...],
    field: tuple[str, ...],
    design: str | None,
    seed: int | None,
    out: Path | None,
) -> Subject:
    """Return what is compared; UsageError where that cannot be."""
    from arena.cli.game_options import parse_offers
    from arena.local.errors import LocalMatchError
    from arena.local.match.design import Design, Pairing, default_design, fielded
    from arena.local.match.runner import versions
    from arena.local.match.sets import Subject, seed_of
    from arena.local.play.players import strongest_house
    from engine.game import OptionError

    try:
        [offer] = parse_offers(GAMES, [game], [str(seats)] if seats is not None else [], options)
    except OptionError as error:
        raise click.UsageError(str(error)) from error
    size = offer.seats[0]
    chosen = default_design(game, size) if design is None else Design(design)
    beside = fielded(chosen, size)
    if len(field) > beside:
        raise click.UsageError(f"a field of {beside} sits at a table of {size} with {chosen.value}, not {len(field)}")
    strongest = strongest_house(game)
    filled = [(field or (strongest,))[place % len(field or (strongest,))] for place in range(beside)]
    bots = (*compared, *filled)
    try:
        known = versions(game, bots)
        if seed is None:
            seed = seed_of(out) if out is not None and out.exists() else None
    except (LocalMatchError, OSError) as error:
        raise click.ClickException(str(error)) from error
    if seed is None:
        seed = secrets.randbelow(1 << 32)
    pairing = Pairing.ROUND_ROBIN if round_robin else Pairing.GAUNTLET
    return Subject(game, dict(offer.options), size, chosen, seed, bots, known, len(compared), pairing)
