"""The attribution of requests to users, the number of requests per address, and the health of the pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from starlette.datastructures import Headers

from arena.replay.header import MatchKind
from arena.store.base.rows import LadderRows, MatchRow, MatchState
from arena.web.pages.health import STALE, SourceHealth
from arena.web.reading.reader import Reader
from arena.web.requests.each_request import SAVED, AddressLimit
from arena.web.requests.sites import reader_address
from trio_grpc.http2.proxy_protocol import networks
from trio_grpc.limits.connection_limits import LOOPBACK, UNIX, Origin

PROXIES = networks("10.0.0.0/8, 2001:db8:1::/48")


def address(peer: str, *headers: tuple[str, str]) -> str:
    raw = [(name.encode(), value.encode()) for name, value in headers]
    return reader_address(peer, Headers(raw=raw), PROXIES)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.7:4711", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]:80", "2001:db8::1"),
        ("198.51.100.1, 192.0.2.7", "192.0.2.7"),
        ("192.0.2.7, 10.1.2.3", "192.0.2.7"),
        ("192.0.2.7, 10.1.2.3, 2001:db8:1::9", "192.0.2.7"),
        ("unknown", "10.0.0.1"),
        ("192.0.2.7, nonsense, 10.1.2.3", "10.1.2.3"),
        ("", "10.0.0.1"),
        (",,,", "10.0.0.1"),
        (", ".join(["10.0.0.2"] * 10_000), "10.0.0.2"),
    ],
)
def test_a_named_proxy_is_believed(told: str, expected: str) -> None:
    assert address("10.0.0.1", ("x-forwarded-for", told)) == expected
    assert address("::ffff:10.0.0.1", ("x-forwarded-for", told)) in (expected, "::ffff:10.0.0.1")


def test_forwarded_is_read_as_its_rfc_has_it() -> None:
    told = 'for=198.51.100.1;proto=http, For="[2001:db8:cafe::17]:4711";by=10.0.0.9'
    assert address("10.0.0.1", ("forwarded", told)) == "2001:db8:cafe::17"
    assert address("10.0.0.1", ("forwarded", "for=_hidden")) == "10.0.0.1"
    assert address("10.0.0.1", ("forwarded", "for=192.0.2.7"), ("x-forwarded-for", "192.0.2.9")) == "192.0.2.7"


def test_nobody_else_is_believed() -> None:
    for peer in ("192.0.2.1", "127.0.0.1", "2001:db8::1", ""):
        assert address(peer, ("x-forwarded-for", "192.0.2.7"), ("forwarded", "for=192.0.2.7")) == peer


def test_an_address_has_its_rate_and_ten_seconds_of_it_saved_up() -> None:
    now = 1000.0
    limit = AddressLimit(2.0, clock=lambda: now)
    one, other = Origin("192.0.2.1"), Origin("192.0.2.2")
    most = int(2 * SAVED)
    assert [limit.wait(one) for _ in range(most)] == [0.0] * most
    assert limit.wait(one) == pytest.approx(0.5)
    assert limit.wait(one) == pytest.approx(0.5), "what is refused costs nothing"
    assert limit.wait(other) == 0.0
    now += 0.5
    assert limit.wait(one) == 0.0
    assert limit.wait(one) > 0
    now += 1000
    assert [limit.wait(one) for _ in range(most)] == [0.0] * most


def test_programs_of_this_machine_have_no_limit_and_zero_is_none() -> None:
    limit = AddressLimit(1.0, clock=lambda: 0.0)
    assert not any(limit.wait(origin) for origin in (LOOPBACK, UNIX) for _ in range(1000))
    assert len(limit) == 0
    unlimited = AddressLimit(0.0)
    assert not any(unlimited.wait(Origin("192.0.2.1")) for _ in range(1000))


def test_so_many_addresses_are_remembered_and_the_newest_of_them() -> None:
    now = 0.0
    limit = AddressLimit(1.0, most=1000, clock=lambda: now)
    spent = Origin("spent")
    for number in range(100_000):
        limit.wait(Origin(str(number)))
        if number % 500 == 0:
            for _ in range(int(SAVED) + 1):
                limit.wait(spent)
        assert len(limit) <= 1000
    assert limit.wait(spent) > 0, "who goes on asking is not forgotten"


NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def ladder(published: datetime | None) -> LadderRows:
    return LadderRows("nullern", 0, (), 1 if published else None, "", published, None)


def match(ended: datetime, kind: MatchKind = MatchKind.RATED, voided: str = "") -> MatchRow:
    return MatchRow(1, "nullern", MatchState.FINISHED, ended, ended, "", (), voided, False, kind)


def test_a_ladder_that_lacks_old_results_is_stale() -> None:
    now = NOW
    health = SourceHealth(Reader(lambda: pytest.fail("it is not read")), lambda: now)
    old, young = NOW - STALE - timedelta(seconds=1), NOW - timedelta(seconds=1)
    assert not health.stale(ladder(None), ())
    assert health.stale(ladder(None), (match(old),))
    assert not health.stale(ladder(None), (match(old, MatchKind.CASUAL), match(old, voided="a fault")))
    assert not health.stale(ladder(NOW), (match(young), match(old)))
    assert health.stale(ladder(old - STALE), (match(young), match(old)))
    assert not health.stale(ladder(old), (match(young),))
    now = NOW + STALE  # many matches have been played since, so the page has none of the newest matches yet
    assert health.stale(ladder(old), (match(now),))
    assert not health.stale(ladder(NOW + timedelta(seconds=1)), (match(now),))
