"""Limits on one bot, and on all bots of one owner. The error names the limit that a request exceeds."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server. Rates are per second. Unused allowances accumulate for a while (see `rate_limit`)."""

    bots_per_owner: int = field(default=50, metadata={"least": 1, "help": "Most bots that one owner may register."})
    registrations_per_address: int = field(
        default=100,
        metadata={
            "least": 1,
            "help": "Registrations per hour from one address, including this machine's, saved up for an hour; invited "
            "ones do not count.",
        },
    )
    casual_per_owner: int = field(
        default=120,
        metadata={"help": "Casual matches per hour for the bots of one owner, saved up for an hour; 0 for none."},
    )
    challenges_per_owner: int = field(
        default=60,
        metadata={"help": "Challenges per hour by the bots of one owner, saved up for an hour; 0 for none."},
    )
    challenges_per_bot: int = field(
        default=60,
        metadata={"help": "Challenges per hour that one bot may get from others, saved up for an hour; 0 for none."},
    )
    streams_per_owner: int = field(
        default=50, metadata={"least": 1, "help": "Most streams that the bots of one owner may have open."}
    )
    unsolicited_rate: float = field(
        default=100.0,
        metadata={
            "unit": "1/s",
            "least": 1,
            "help": "Messages per second besides the answers to questions, saved up for 200 s.",
        },
    )
    byte_rate: float = field(
        default=float(1 << 20),
        metadata={"unit": "B/s", "least": 1024, "help": "Bytes per second that a bot may send; saved up for 16 s."},
    )
    connect_rate: float = field(
        default=0.5,
        metadata={"unit": "1/s", "least": 0.001, "help": "Times per second that a bot may connect; saved up for 60 s."},
    )
    hello_timeout: float = field(
        default=10.0,
        metadata={"unit": "s", "least": 0.1, "help": "Time from the opening of a stream to the bot's first message."},
    )
    watchers: int = field(
        default=1000,
        metadata={"help": "Most streams that watch matches; 0 for none. The pages of --web need one."},
    )
    watchers_per_address: int = field(
        default=20,
        metadata={"help": "Most such streams from one IPv4 address or IPv6 /64; this machine has no such limit."},
    )
