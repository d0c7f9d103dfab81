"""The preview image of a match for other sites: its content and size. It is drawn only once."""

from __future__ import annotations

import re
from importlib.resources import files
from io import BytesIO
from pathlib import Path

import pytest
import trio
from PIL import Image

from arena.web.drawing import match_picture
from arena.web.drawing.match_picture import (
    CHART,
    EDGE,
    PAPER,
    ROW,
    SEATS,
    SIZE,
    MatchPictures,
    PicturedMatch,
    PicturedSeat,
)
from tests.cli.web_data import directory_of, pages_of
from tests.cli.web_process_rig import ask, browsing

LARGEST = 100_000
"""Maximum number of bytes that other sites accept for a preview image."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return directory_of(tmp_path_factory.mktemp("pictures") / "data", 4, 2)


def test_a_page_of_a_match_names_its_own_picture_and_the_server_draws_it(data: Path) -> None:
    seen = set[bytes]()
    with browsing("--data", str(data)) as place:
        for number in (1, 2):
            for path in (f"/matches/{number}", f"/matches/{number}/steps/3"):
                named = re.search(r'og:image" content="([^"]+)"', ask(place, path, host="evil.example")[1].decode())
                assert named
                assert named[1] == f"http://{place[0]}:{place[1]}/matches/{number}/picture.png"
            answer, content = ask(place, f"/matches/{number}/picture.png")
            assert (answer.status, answer.getheader("content-type")) == (200, "image/png")
            assert len(content) <= LARGEST
            with Image.open(BytesIO(content)) as image:
                assert (image.format, image.size) == ("PNG", SIZE)
            seen.add(content)
            again, nothing = ask(place, f"/matches/{number}/picture.png", if_none_match=answer.getheader("etag", ""))
            assert (again.status, nothing) == (304, b"")
        assert ask(place, "/matches/99/picture.png")[0].status == 404
    assert len(seen) == 2, "each says who played"


def test_a_picture_is_drawn_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[PicturedMatch] = []

    def draw(match: PicturedMatch) -> bytes:
        drawn.append(match)
        return b""

    monkeypatch.setattr(match_picture, "_drawn", draw)
    monkeypatch.setattr(match_picture, "KEPT", 2)
    pages = pages_of(data)
    for number in (1, 2, 1, 2):
        assert pages.get(f"/matches/{number}/picture.png").status == 200
    assert [match.title for match in drawn] == ["Match 1", "Match 2"]
    places = [seat.place for seat in drawn[0].seats]
    assert places == sorted(places)
    for match in drawn:
        assert len(match.scores) > 1
        assert all(match.scores[-1][seat.seat] == seat.score for seat in match.seats), "each line ends at its score"
    pictures = MatchPictures()
    for number in range(9):
        trio.run(pictures.picture, drawn[0]._replace(title=str(number)))
    assert pictures._picture.cache_info().currsize == 2


@pytest.mark.parametrize("name", ["W" * 64, "<script>alert(1)</script>", "שלום 🃏", "", "a\nb"])
@pytest.mark.parametrize("scores", [(), ((0,) * 7,), ((-123_456,) * 7, (9,) * 7, (-40, 50, -60, 70, 0, 1, 2))])
@pytest.mark.parametrize("spoilt", [False, True])
@pytest.mark.parametrize("seats", [2, 7])
def test_any_name_stays_inside_the_edge(
    name: str, seats: int, scores: tuple[tuple[int, ...], ...], spoilt: bool
) -> None:
    lines = tuple(PicturedSeat(1 + seat, name, -123_456, seat, spoilt) for seat in range(seats))
    match = PicturedMatch("Match 9007199254740991", "6th Sense", lines, scores)
    content = trio.run(MatchPictures().picture, match)
    assert len(content) <= LARGEST
    with Image.open(BytesIO(content)) as opened:
        image = opened.convert("RGB")
    paper = Image.new("RGB", (1, 1), PAPER).getpixel((0, 0))
    half = EDGE // 2
    for box in ((0, 0, half, SIZE[1]), (SIZE[0] - half, 0, *SIZE), (0, 0, SIZE[0], half), (0, SIZE[1] - half, *SIZE)):
        assert image.crop(box).getcolors() == [((box[2] - box[0]) * (box[3] - box[1]), paper)]
    assert len(image.getcolors(1 << 20) or ()) > 5, "something is drawn"


def test_a_seat_that_a_house_bot_played_on_is_marked_and_only_that_seat() -> None:
    seats = (PicturedSeat(1, "ann", 50, 0), PicturedSeat(2, "bob", 40, 1))
    marked = (seats[0], seats[1]._replace(spoilt=True))
    shown = []
    for each in (seats, marked):
        content = trio.run(MatchPictures().picture, PicturedMatch("Match 1", "Nullern", each))
        with Image.open(BytesIO(content)) as opened:
            shown.append(opened.convert("RGB"))
    first, second = (SIZE[1] - EDGE - ROW * row for row in (2, 1))

    def differs(*box: int) -> bool:
        plain, noted = (image.crop((box[0], box[1], box[2], box[3])).tobytes() for image in shown)
        return plain != noted

    assert not differs(0, first, SIZE[0], second)
    assert differs(0, second, *SIZE)
    assert differs(SIZE[0] // 2, EDGE + 46, SIZE[0], EDGE + 90), "the mark is explained"


def test_score_lines_have_the_colours_of_the_pages() -> None:
    seats = tuple(PicturedSeat(1 + seat, f"bot-{seat}", 10 * seat, seat) for seat in range(7))
    match = PicturedMatch("Match 1", "6th Sense", seats, (tuple(range(0, 70, 10)),) * 2)
    with Image.open(BytesIO(trio.run(MatchPictures().picture, match))) as opened:
        image = opened.convert("RGB").crop(CHART)
    style = (files("arena.replay.render") / "page" / "table.css").read_text("utf-8")
    tokens = re.findall(r"--seat-\d: (#[0-9a-f]{6})", style)[: len(SEATS)]
    assert list(SEATS) == tokens
    shown = [colour for _, colour in image.getcolors(1 << 20) or () if isinstance(colour, tuple)]
    for seat in SEATS:
        wanted = bytes.fromhex(seat[1:])
        assert any(max(abs(a - b) for a, b in zip(wanted, each, strict=True)) <= 6 for each in shown), seat
