"""A bot that misbehaves. Arguments: address, token, game, kind of misbehaviour.

After the misbehaviour it prints a line of JSON, with the number of the match if there is one. When its stream or that
match is over, it prints another line with the notices that it received. Bots that die print only the first line.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from time import sleep
from typing import Any, Final, NoReturn

from arena_client.v1 import play_pb2 as pb

from tests.bots.faulty_bot import FaultyBot
from tests.end_to_end.raw_bot import Ended

ADDRESS, TOKEN, GAME, KIND = sys.argv[1:]
NOWHERE: Final = 10**9
"""A number that no match has."""
NONSENSE: Final = pb.PlayRequest(answers=[pb.Answer(match_id=NOWHERE, decision_id=7)] * 100).SerializeToString()
FORCED_BY_TIME: Final = pb.NOTICE_KIND_FORCED_BY_TIME
SUSPENDED: Final = pb.NOTICE_KIND_SUSPENDED
KINDS: dict[str, Callable[[FaultyBot], object]] = {}


def misbehaviour(act: Callable[[FaultyBot], object]) -> Callable[[FaultyBot], object]:
    """Register a function as the misbehaviour of its name, with hyphens for underscores."""
    return KINDS.setdefault(act.__name__.replace("_", "-"), act)


def die() -> None:
    """Die without sending a message."""
    os.kill(os.getpid(), signal.SIGKILL)


# --- bots that send nothing, or too late ---


@misbehaviour
def silent(bot: FaultyBot) -> None:
    bot.due()
    bot.did()
    bot.read_until(lambda: bot.over)


@misbehaviour
def late(bot: FaultyBot) -> None:
    """Answer late until the server suspends the bot. Then report that it is ready, and play well."""
    bot.due()
    bot.did()
    bot.read_until(lambda: bot.told(FORCED_BY_TIME))
    for _ in range(2):
        decision = bot.due()
        bot.read_until(lambda decision=decision: bot.told(FORCED_BY_TIME, decision))  # type: ignore[misc]
        bot.choose(decision)
    bot.read_until(lambda: bot.told(SUSPENDED))
    bot.decisions.clear()
    bot.send(pb.PlayRequest(resumed=[bot.match_id]))
    bot.play_on()


@misbehaviour
def stopped(bot: FaultyBot) -> None:
    """Suspend the bot's own process. A test may resume it."""
    bot.due()
    bot.did()
    os.kill(os.getpid(), signal.SIGSTOP)
    bot.read_until(lambda: bot.over)


# --- bots that send wrong messages ---


@misbehaviour
def illegal(bot: FaultyBot) -> None:
    """Answer every decision with an illegal action."""
    bot.send(pb.PlayRequest(answers=[_wrong(bot.due())]))
    bot.did()
    while not bot.over:
        seen = len(bot.notices)
        bot.read()
        open_still = [notice for notice in bot.notices[seen:] if notice.kind == pb.NOTICE_KIND_ILLEGAL and notice.legal]
        due, bot.decisions = bot.decisions, []
        answers = [_wrong(decision) for decision in due]
        answers += [
            pb.Answer(match_id=notice.match_id, decision_id=notice.decision_id, action=1 << 31) for notice in open_still
        ]
        if answers:
            bot.send(pb.PlayRequest(answers=answers))


def _wrong(decision: pb.Decision) -> pb.Answer:
    action = next(action for action in count() if action not in decision.legal)
    return pb.Answer(match_id=decision.match_id, decision_id=decision.decision_id, action=action)


@misbehaviour
def wrong_ids(bot: FaultyBot) -> None:
    """Answer for matches and decisions that are unknown, finished or belong to another bot. Then answer correctly."""
    bot.decisions.append(bot.due())
    bot.did()
    while not bot.over:
        due, bot.decisions = bot.decisions, []
        for decision in due:
            match, number = decision.match_id, decision.decision_id
            for wrong in ((match + 1, number), (NOWHERE, number), (match, 1 << 31), (match, number + 1), (match, 0)):
                bot.send(pb.PlayRequest(answers=[pb.Answer(match_id=wrong[0], decision_id=wrong[1])]))
            bot.choose(decision)
        bot.read()


@misbehaviour
def doubled(bot: FaultyBot) -> None:
    """Send every answer twice in one message, and a third time in another."""
    bot.decisions.append(bot.due())
    bot.did()
    while not bot.over:
        due, bot.decisions = bot.decisions, []
        for decision in due:
            bot.answer(decision, decision, action=decision.legal[0])
            bot.answer(decision, action=decision.legal[-1])
        bot.read()


@misbehaviour
def garbage(bot: FaultyBot) -> None:
    bot.due()
    bot.did()
    for _ in range(10):
        bot.send(bot.chance.randbytes(200))
    bot.last_word()


@misbehaviour
def garbage_for_a_greeting(bot: FaultyBot) -> None:
    bot.did()
    bot.send(b"\xff" * 100)
    bot.last_word()


@misbehaviour
def bad_token(bot: FaultyBot) -> None:
    bot.did()
    bot.last_word()


# --- bots that send too much, or do not read ---


@misbehaviour
def flood(bot: FaultyBot) -> None:
    """Send unrequested answers as fast as possible, while the bot plays well and reads."""

    def pour() -> None:
        while bot.end is None:
            if bot.unsent > 3:
                sleep(0.001)
            else:
                bot.send(NONSENSE)

    bot.decisions.append(bot.due())
    bot.did()
    threading.Thread(target=pour, daemon=True).start()
    bot.play_on()


@misbehaviour
def deaf(bot: FaultyBot) -> None:
    """Flood the server and read nothing for some seconds."""
    bot.due()
    bot.did()
    for _ in range(300):
        bot.send(NONSENSE)
    sleep(2.0)
    bot.last_word()


@misbehaviour
def one_message_of_100_megabytes(bot: FaultyBot) -> None:
    bot.due()
    bot.did()
    bot.send(bytes(100 << 20))
    bot.last_word()


@misbehaviour
def messages_of_100_megabytes(bot: FaultyBot) -> None:
    """Send messages that consist of one unknown field, each below the size limit."""
    bot.decisions.append(bot.due())
    bot.did()
    ballast = pb.Hello(client="x" * 1_000_000).SerializeToString()
    ballast = b"\xfa\x06" + ballast[1:]  # length and content of a field that the message type does not have
    for _ in range(100):
        bot.send(ballast)
    bot.play_on()


# --- bots that die, leave, and come back ---


@misbehaviour
def dies_connected(bot: FaultyBot) -> None:
    bot.connected()
    bot.did()
    os._exit(1)


@misbehaviour
def dies_greeted(bot: FaultyBot) -> None:
    bot.read()
    bot.did()
    os._exit(1)


@misbehaviour
def dies_invited(bot: FaultyBot) -> None:
    bot.accepts = False
    bot.read_until(lambda: bot.invitations)
    bot.did()
    os._exit(1)


@misbehaviour
def dies_ready(bot: FaultyBot) -> None:
    """Die at the first decision, when the server must have received the bot's acceptance."""
    bot.read_until(lambda: bot.invitations)
    bot.send(pb.PlayRequest(answers=[pb.Answer(match_id=NOWHERE)]))
    bot.read_until(lambda: bot.notices or bot.decisions)
    bot.did()
    os._exit(1)


def dies_at(kind: str) -> None:
    def act(bot: FaultyBot) -> None:
        bot.misbehave_at(kind)
        die()

    KINDS[f"dies-at-{kind}"] = act


for _kind in ("predict", "play", "block", "double", "peek", "bid", "blind"):
    dies_at(_kind)


@misbehaviour
def leaves(bot: FaultyBot) -> None:
    """Send a sign-off during a match."""
    bot.misbehave_at("play")
    bot.say_goodbye()
    bot.last_word()


@misbehaviour
def is_started_again(bot: FaultyBot) -> None:
    """Die, and start again at once."""
    _started_again(bot, 0.0)


@misbehaviour
def is_started_again_late(bot: FaultyBot) -> None:
    """Die, and start again after some time."""
    _started_again(bot, 1.5)


def _started_again(bot: FaultyBot, after: float) -> NoReturn:
    bot.close()
    command = [sys.executable, "-m", "tests.bots.faulty", ADDRESS, TOKEN, GAME, "dies-at-play"]
    died = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(died.stdout, end="", flush=True)
    sleep(after)
    _stay(bot.another(json.loads(died.stdout)["match"]))


@misbehaviour
def connects_twice(bot: FaultyBot) -> None:
    """Connect twice and continue on the second stream. The first stream reports how it ended."""
    bot.misbehave_at("play")
    second = bot.another()
    bot.last_word()
    second.play_on()
    bot.reports, bot.notices = second.reports, bot.notices + second.notices
    second.close()


@misbehaviour
def storm(bot: FaultyBot) -> None:
    """Reconnect twenty times without a pause. Then stay and play."""
    bot.misbehave_at("play")
    for number in range(20):
        bot.close()
        bot = bot.another()
        if number % 2:
            bot.read()
    _stay(bot)


@misbehaviour
def storm_of_take_overs(bot: FaultyBot) -> None:
    """Open twenty streams at once and close none. Then play on the last one."""
    bot.misbehave_at("play")
    streams = [bot.another() for _ in range(20)]
    for stream in streams:
        with suppress(Ended):
            stream.read()
    last = bot.another()
    for stream in (bot, *streams):
        stream.last_word()
        stream.close()
    _stay(last)


def _stay(bot: FaultyBot) -> NoReturn:
    bot.play_on()
    bot.sum_up()
    sys.exit()


def main() -> None:
    strange: dict[str, dict[str, Any]] = {
        "bad-token": {"token": "arena_guess"},
        "garbage-for-a-greeting": {"hello": False},
        "dies-connected": {"hello": False},
    }
    bot = FaultyBot(**{"address": ADDRESS, "token": TOKEN, "game": GAME, "kind": KIND} | strange.get(KIND, {}))
    with suppress(Ended):
        KINDS[KIND](bot)
    bot.sum_up()


main()
