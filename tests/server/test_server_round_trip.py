"""The round trip of a session is the shortest recent measurement, and a late bot gains nothing from it."""

from __future__ import annotations

import pytest

from arena.server.sessions.round_trip import MOST_UNANSWERED, ROUND_TRIPS, RoundTrip


def beat(trip: RoundTrip, at: float, took: float, acknowledged: float | None = None) -> None:
    trip.beaten(at + took, trip.beat(at), acknowledged)


def test_the_round_trip_is_the_shortest_of_the_latest_heartbeats() -> None:
    trip = RoundTrip()
    assert trip.seconds is None
    for number, took in enumerate((0.01, *[0.3] * (ROUND_TRIPS - 2), 0.2)):
        beat(trip, 10.0 * number, took)
        assert trip.seconds == pytest.approx(0.01)
    beat(trip, 1000.0, 0.3)
    assert trip.seconds == pytest.approx(0.2), "a way that has become longer is known as such after a while"


def test_a_heartbeat_answered_late_gains_nothing_beside_one_decision_answered_soon() -> None:
    trip = RoundTrip()
    for number in range(3 * ROUND_TRIPS):
        if number % ROUND_TRIPS == 0:
            trip.answered(0.004)
        trip.answered(1.2)
        beat(trip, 10.0 * number, 0.25)
        assert trip.seconds == pytest.approx(0.004)


def test_a_decision_answered_soon_counts_at_once_and_none_before_the_first_heartbeat() -> None:
    trip = RoundTrip()
    trip.answered(0.5)
    assert trip.seconds is None
    beat(trip, 0.0, 2.0)
    assert trip.seconds == 0.5
    trip.answered(0.1)
    assert trip.seconds == 0.1
    trip.answered(0.2)
    assert trip.seconds == 0.1


def test_a_bot_that_is_late_in_all_it_says_is_no_further_away_than_its_system() -> None:
    trip = RoundTrip()
    for number in range(3 * ROUND_TRIPS):
        trip.answered(1.25)
        beat(trip, 10.0 * number, 0.25, acknowledged=0.002)
        assert trip.seconds == 0.002


def test_only_the_number_of_a_heartbeat_that_was_sent_counts_and_only_once() -> None:
    trip = RoundTrip()
    first, second = trip.beat(100.0), trip.beat(110.0)
    for never_sent in (0, first - 1, second + 1, 1 << 60):
        trip.beaten(111.0, never_sent, None)
    assert trip.seconds is None
    trip.beaten(110.5, second, None)
    assert trip.seconds == 0.5
    for _ in range(ROUND_TRIPS):
        trip.beaten(130.0, first, None)
        trip.beaten(130.0, second, None)
    assert trip.seconds == 0.5


def test_heartbeats_that_are_never_answered_are_forgotten() -> None:
    trip = RoundTrip()
    numbers = [trip.beat(float(at)) for at in range(MOST_UNANSWERED + 1)]
    trip.beaten(100.0, numbers[0], None)
    assert trip.seconds is None
    trip.beaten(100.0, numbers[1], None)
    assert trip.seconds == 99.0


def test_a_clock_that_was_set_back_gives_no_negative_time() -> None:
    trip = RoundTrip()
    trip.beaten(5.0, trip.beat(6.0), None)
    assert trip.seconds == 0.0
