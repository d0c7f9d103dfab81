"""What one bot, or all bots of one owner, may ask of a server. Whoever asks for more is refused by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Rates are per second, and each may be saved up for a while; see `pace`."""

    bots: int = 50
    """Bots an owner may register."""
    streams: int = 50
    """Streams the bots of an owner may have open."""
    things: float = 100.0
    """Answers, acceptances and other things a bot may say that it was not asked for."""
    traffic: float = 1 << 20
    """Bytes a bot may send."""
    comings: float = 0.5
    """How often a bot may connect."""
    hello: float = 10.0
    """Seconds from the opening of a stream to the bot's first message."""
