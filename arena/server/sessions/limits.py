"""Limits on one bot, and on all bots of one owner. The error names the limit that a request exceeds."""

from __future__ import annotations

from dataclasses import dataclass

from trio_grpc.limits.settings import setting


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server. Rates are per second. Unused allowances accumulate for a while (see `rate_limit`)."""

    bots_per_owner: int = setting(50, "Most bots that one owner may register.", least=1)
    registrations_per_address: int = setting(
        100,
        "Registrations per hour from one address, including this machine's, saved up for an hour; invited "
        "ones do not count.",
        least=1,
    )
    casual_per_owner: int = setting(
        120, "Casual matches per hour for the bots of one owner, saved up for an hour; 0 for none."
    )
    challenges_per_owner: int = setting(
        60, "Challenges per hour by the bots of one owner, saved up for an hour; 0 for none."
    )
    challenges_per_bot: int = setting(
        60, "Challenges per hour that one bot may get from others, saved up for an hour; 0 for none."
    )
    streams_per_owner: int = setting(50, "Most streams that the bots of one owner may have open.", least=1)
    unsolicited_rate: float = setting(
        100.0, "Messages per second besides the answers to questions, saved up for 200 s.", unit="1/s", least=1
    )
    byte_rate: float = setting(
        float(1 << 20), "Bytes per second that a bot may send; saved up for 16 s.", unit="B/s", least=1024
    )
    connect_rate: float = setting(
        0.5, "Times per second that a bot may connect; saved up for 60 s.", unit="1/s", least=0.001
    )
    hello_timeout: float = setting(
        10.0, "Time from the opening of a stream to the bot's first message.", unit="s", least=0.1
    )
    watchers: int = setting(1000, "Most streams that watch matches; 0 for none. The pages of --web need one.")
    watchers_per_address: int = setting(
        20, "Most such streams from one IPv4 address or IPv6 /64; this machine has no such limit."
    )
