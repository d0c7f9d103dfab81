"""House bots have a large enough share of the seats to fix the ladder's scale."""

from random import Random

import numpy as np
import pytest

from arena.ladder.events import Entrant, Node
from arena.ladder.fitted import ladder
from arena.scheduling.candidate import Waiting
from arena.scheduling.pool import Pool
from bench.ladder.arrays import columns_of

ANCHORS = 3
SEATS = 4
MATCHES = 100


@pytest.mark.parametrize("guests", [8, 30])
def test_the_scale_is_known_about_as_well_as_a_rating_is(guests: int) -> None:
    """All bots have 100 matches at tables of four, against bots of about the same strength."""
    pool, chance = Pool(range(ANCHORS), Random(guests)), np.random.default_rng(guests)
    tables = []
    for _ in range(guests * MATCHES // SEATS):
        for guest in range(ANCHORS, ANCHORS + guests):
            pool.update(Waiting(guest, f"owner {guest}", 0.0))
        table = pool.table(SEATS, 0.0)
        assert table is not None
        tables.append(table.bots)
    luck = chance.normal(0, 1, (len(tables), SEATS))
    entrants = tuple(Entrant(Node(node), anchor=node < ANCHORS) for node in range(ANCHORS + guests))
    found = ladder(entrants, columns_of(np.array(tables), 1 + np.argsort(np.argsort(luck, axis=1), axis=1)))
    own = float(np.median([figure.error for figure in found.figures if figure.node >= ANCHORS]))
    assert found.field.scale_error == pytest.approx(own, rel=0.2)
