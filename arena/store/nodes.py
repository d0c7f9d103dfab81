"""Nodes: servers that share one store, each with its own matches.

A node holds a lease, which expires by the database's clock unless the node renews it. Once a lease has expired, another
node interrupts the matches of the node that held it. From then on, the store refuses results of these matches and
renewals of the lease. A job that one node does for all nodes has a lease, too.

A change that other nodes must learn about is a row of `changes`, numbered in commit order. So a node reads only
new changes.

Every function here that writes needs the write lock of its transaction.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from secrets import token_hex
from typing import TYPE_CHECKING, Final, NamedTuple

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from arena.replay.header import MatchKind
from arena.store import schema
from arena.store.base.changes import NEWEST_CHANGE, Change
from arena.store.base.errors import JobLost, LeaseLost, NodeError
from arena.store.base.rows import Interruption, MatchState
from arena.store.base.statements import DatabaseClock, Statement, database_now
from arena.store.matches import matches

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sqlalchemy import ColumnElement, Connection

LEASE: Final = 15.0
"""Length of a lease in seconds, by the database's clock."""
RENEWED: Final = 5.0
"""Number of seconds after which a node renews its lease."""
GRACE: Final = 2.0
"""Number of seconds for which a node with an expired lease is only suspected, and can still renew the lease."""
HIGHEST: Final = 99
"""The highest allowed number of a node."""
REGISTERED: Final = "registered"
LOST: Final = "lost"
"""The state of a node whose matches another node has interrupted."""
RELEASED: Final = "released"
"""The state of a node that has ended normally, perhaps with matches in its journal."""
_LENGTH: Final = int(LEASE * 1_000_000)
_NODES: Final = schema.nodes.c
_LEASES: Final = schema.leases.c
_CHANGES: Final = schema.changes.c
_ALLOWANCES: Final = schema.allowances.c
_HOUR: Final = 3600 * 1_000_000
MOST_NUMBERS: Final = 1000
"""Number of newest match numbers that a node searches for matches of other nodes."""
REGISTRATIONS: Final = "registrations"
"""The kind of allowance for registrations from one address."""
_RENEW: Final = Statement(
    update(schema.nodes).where(
        _NODES.number == bindparam("of_number"),
        _NODES.session == bindparam("of_session"),
        _NODES.state == bindparam("in_state"),
    ),
    "lease_until",
)
_MATCHES: Final = schema.matches.c
_SEATS: Final = schema.match_seats.c
_MEETINGS: Final = Statement(
    select(_MATCHES.id, _MATCHES.node, _MATCHES.ladder, _SEATS.bot_id)
    .join_from(schema.matches, schema.match_seats)
    .where(
        _MATCHES.id > bindparam("after"), _MATCHES.node != bindparam("of_node"), _MATCHES.kind == bindparam("of_kind")
    )
    .order_by(_MATCHES.id, _SEATS.seat)
)
_SINCE: Final = Statement(
    select(_CHANGES.number, _CHANGES.kind, _CHANGES.subject)
    .where(_CHANGES.number > bindparam("after"))
    .order_by(_CHANGES.number)
)


class Meeting(NamedTuple):
    """A rated match of another node."""

    match_id: int
    node: int
    ladder_id: str
    bots: tuple[int, ...]
    """The numbers of the bots, by seat."""


class Node(NamedTuple):
    """A node, as other nodes and bots see it. Times are in microseconds since 1970, by the database's clock."""

    number: int
    address: str
    program: str
    started: int
    lease_until: int
    state: str


class Lease(NamedTuple):
    """The right of a node to play, as of its registration or latest renewal."""

    number: int
    session: str
    """Secret id of this start of the node."""
    until: int
    """Expiry in microseconds since 1970, by the database's clock. The node itself counts from before its request, by
    its own clock.
    """


class NodeStart(NamedTuple):
    """The data with which a server registers as a node."""

    number: int
    address: str
    """Address for bots, as `HOST:PORT`."""
    program: str
    """Versions of the package and of the schema."""
    settings: str = ""
    """The settings that all nodes share, as `NAME:DIGEST` separated by spaces."""
    beside: Collection[int] = ()
    """The numbers of all nodes that this server's parent starts on the same data directory, including this one."""
    several: bool = False
    """True if nodes with other data directories may use the store."""


class Allowance(NamedTuple):
    """An hourly allowance that all nodes share. Unused parts accumulate for an hour."""

    kind: str
    key: str
    """The limited party, for example an address, or an owner in lower case."""
    hourly: int
    """Number of uses per hour."""


def register(connection: Connection, start: NodeStart, identity: str = "") -> Lease:
    """Register a node under a free number, or a number that a node of the same data directory has or had.

    The caller must ensure that this earlier node no longer runs. `identity`: the identity of the data
    directory.

    Raises: NodeError: The number is out of range or taken, or other nodes have another program or other settings.
    """
    number, program, settings = start.number, start.program, start.settings
    if not 1 <= number <= HIGHEST:
        raise NodeError(f"{number} is no number of a node; choose one from 1 to {HIGHEST}")
    now = database_now(connection)
    known = {row.number: row for row in connection.execute(select(schema.nodes).order_by(_NODES.number))}
    for other in known.values():
        if other.state != REGISTERED or other.lease_until <= now:
            continue
        if other.number == number and other.identity != identity:
            left = (other.lease_until - now) / 1e6
            raise NodeError(
                f"node {number} is the server at {other.address}, whose lease lasts for another {left:.0f} s; give "
                "this server another number, or stop that one"
            )
        if other.number != number and other.program != program:
            raise NodeError(
                f"node {other.number} runs {other.program}, and this server {program}; all nodes run the same, so stop "
                "them all before an upgrade"
            )
        if other.number != number and other.settings != settings:
            differing = {*settings.split()} ^ {*other.settings.split()}
            names = sorted({each.partition(":")[0] for each in differing})
            raise NodeError(
                f"node {other.number} has other settings than this server ({', '.join(names)}); give all nodes the "
                "same, and stop them all to change these"
            )
    lease = Lease(number, token_hex(16), now + _LENGTH)
    row = {"address": start.address, "program": program, "settings": settings, "identity": identity, "started": now}
    row |= {"session": lease.session, "lease_until": lease.until, "state": REGISTERED}
    if number in known:
        connection.execute(update(schema.nodes).where(_NODES.number == number).values(row))
    else:
        connection.execute(insert(schema.nodes).values(number=number, last_number=0, **row))
    return lease


def renew(connection: Connection, lease: Lease) -> Lease:
    """Renew a lease, even an expired one. Raises: LeaseLost: Another node has interrupted this node's matches."""
    until = database_now(connection) + _LENGTH
    own = {"of_number": lease.number, "of_session": lease.session, "in_state": REGISTERED}
    if not _RENEW.run(connection, {**own, "lease_until": until}).rowcount:
        raise LeaseLost(lease.number)
    return lease._replace(until=until)


def release(connection: Connection, lease: Lease) -> None:
    """Release a node's lease and those of its jobs. Its running matches stay in its journal for its next start."""
    own = (_NODES.number == lease.number) & (_NODES.session == lease.session) & (_NODES.state == REGISTERED)
    if connection.execute(update(schema.nodes).where(own).values(state=RELEASED)).rowcount:
        connection.execute(delete(schema.leases).where(_LEASES.node == lease.number))


def living(connection: Connection) -> tuple[Node, ...]:
    """Return the nodes with a valid lease, in order of their numbers."""
    return list_nodes(connection, _NODES.state == REGISTERED, _NODES.lease_until > DatabaseClock())


def list_nodes(connection: Connection, *conditions: ColumnElement[bool]) -> tuple[Node, ...]:
    """Return all nodes that have ever registered and meet the conditions, in order of their numbers."""
    query = select(*(_NODES[name] for name in Node._fields)).where(*conditions).order_by(_NODES.number)
    return tuple(Node(*row) for row in connection.execute(query))


def interrupt_lost(connection: Connection, at: int, grace: float = GRACE) -> Mapping[int, tuple[int, ...]]:
    """Interrupt the matches of all nodes whose leases have expired. Return the matches by node.

    No bot is charged, and tables of events play new matches. Matches that have ended do not change. The first call only
    marks a node as suspected. A call at least `grace` seconds later interrupts its matches, unless it has renewed its
    lease meanwhile. So after the whole store was blocked, live nodes can write first.
    """
    found, now, length = {}, database_now(connection), int(grace * 1_000_000)
    over = (_NODES.state == REGISTERED) & (_NODES.lease_until <= now)
    query = select(_NODES.number, _NODES.lease_until).where(over).order_by(_NODES.number)
    for number, until in connection.execute(query).all():
        name = f"lost:{number}"
        suspected = connection.scalar(select(_LEASES.until).where(_LEASES.name == name))
        if suspected is None or suspected - length < until:
            connection.execute(delete(schema.leases).where(_LEASES.name == name))
            connection.execute(insert(schema.leases).values(name=name, node=number, until=now + length))
            continue
        if suspected > now:
            continue
        connection.execute(update(schema.nodes).where(_NODES.number == number).values(state=LOST))
        connection.execute(delete(schema.leases).where(_LEASES.node == number))
        running = matches.playing(connection, number)
        reason = Interruption.JOURNAL_LOST.in_words(f"node {number} did not renew its lease: it")
        matches.interrupt(connection, running, reason, at)
        found[number] = running
    return found


def numbers_of(connection: Connection, identity: str) -> frozenset[int]:
    """Return the node numbers whose latest registration came from the data directory with this identity."""
    return frozenset(connection.scalars(select(_NODES.number).where(_NODES.identity == identity)))


def adopt(connection: Connection, number: int, left: Collection[int]) -> None:
    """Assign the matches of the nodes `left`, which no longer run, to the node `number`.

    Their journals must be in the data directory of this node.
    """
    connection.execute(update(schema.nodes).where(_NODES.number.in_(left)).values(state=RELEASED))
    connection.execute(delete(schema.leases).where(_LEASES.node.in_(left)))
    matches.hand_over(connection, number, left)


def acquire(connection: Connection, name: str, number: int) -> bool:
    """Acquire or renew the lease of a job for a node. Return whether the node now holds it.

    It has the length of a node's lease. `name`: `fit`, `luck` or `events`.
    """
    now = database_now(connection)
    own = (_LEASES.name == name) & or_(_LEASES.node == number, _LEASES.until <= now)
    row = {"node": number, "until": now + _LENGTH}
    if connection.execute(update(schema.leases).where(own).values(row)).rowcount:
        return True
    if connection.scalar(select(_LEASES.node).where(_LEASES.name == name)) is not None:
        return False
    connection.execute(insert(schema.leases).values(name=name, **row))
    return True


def holder_of(connection: Connection, name: str) -> int | None:
    """Return the number of the node that holds the lease of a job, or None."""
    held = (_LEASES.name == name) & (_LEASES.until > DatabaseClock())
    return connection.scalar(select(_LEASES.node).where(held))


def require_job(connection: Connection, name: str, number: int) -> None:
    """Check that a node has the lease of a job. Raises: JobLost."""
    if holder_of(connection, name) != number:
        raise JobLost(number, name)


def reserve_numbers(connection: Connection, number: int, count: int) -> range:
    """Reserve the next `count` match numbers for a node.

    A server without other nodes uses the number after the newest match instead.
    """
    reserved = connection.scalar(select(func.max(_NODES.last_number))) or 0
    first = max(matches.newest(connection), reserved) + 1
    last = first + count - 1
    connection.execute(update(schema.nodes).where(_NODES.number == number).values(last_number=last))
    return range(first, last + 1)


def spend(connection: Connection, allowance: Allowance) -> float:
    """Use an allowance once and return 0. If it is used up, return the seconds until a use is available."""
    now, pause = database_now(connection), _HOUR // allowance.hourly
    own = (_ALLOWANCES.kind == allowance.kind) & (_ALLOWANCES.key == allowance.key)
    connection.execute(delete(schema.allowances).where(_ALLOWANCES.full <= now))
    full = connection.scalar(select(_ALLOWANCES.full).where(own))
    then = (full or now) + pause
    if then > now + _HOUR:
        return (then - now - _HOUR) / 1e6
    if full is None:
        connection.execute(insert(schema.allowances).values(kind=allowance.kind, key=allowance.key, full=then))
    else:
        connection.execute(update(schema.allowances).where(own).values(full=then))
    return 0.0


def give_back(connection: Connection, allowance: Allowance) -> None:
    """Undo one `spend`."""
    own = (_ALLOWANCES.kind == allowance.kind) & (_ALLOWANCES.key == allowance.key)
    pause = _HOUR // allowance.hourly
    connection.execute(update(schema.allowances).where(own).values(full=_ALLOWANCES.full - pause))


def newest_change(connection: Connection) -> int:
    """Return the newest change's number, as a start for `changed_since`. Read it before the data that may change."""
    (number,) = NEWEST_CHANGE.run(connection, {}).fetchone() or (0,)
    return int(number)


def changed_since(connection: Connection, mark: int) -> tuple[int, tuple[Change, ...]]:
    """Return the number of the newest change, and all nodes' changes after the number `mark` in the order of their
    commits.

    A subject that changed several times is returned once.
    """
    rows = _SINCE.run(connection, {"after": mark}).fetchall()
    return rows[-1][0] if rows else mark, tuple(Change(kind, subject) for _, kind, subject in rows)


def meetings(connection: Connection, number: int, after: int) -> tuple[Meeting, ...]:
    """Return the rated matches of other nodes, in the order of their numbers.

    `number`: the node that asks. `after`: only matches with higher numbers are returned, and only those among the
    newest `MOST_NUMBERS`. Each node reserves numbers in blocks. So a new match may have a lower number than an older
    match of another node.
    """
    first = max(after, matches.newest(connection) - MOST_NUMBERS)
    values = {"after": first, "of_node": number, "of_kind": MatchKind.RATED.value}
    found = groupby(_MEETINGS.run(connection, values).fetchall(), key=itemgetter(0, 1, 2))
    return tuple(
        Meeting(match_id, node, ladder_id, tuple([bot_id for *_, bot_id in seats]))
        for (match_id, node, ladder_id), seats in found
    )


def playing_by_node(connection: Connection) -> Mapping[int, int]:
    """Return the number of running matches by node, for nodes with running matches."""
    own = func.coalesce(schema.matches.c.node, 1)
    plays = schema.matches.c.state == MatchState.PLAYING.value
    rows = connection.execute(select(own, func.count()).where(plays).group_by(own).order_by(own))
    return {int(node): int(count) for node, count in rows}
