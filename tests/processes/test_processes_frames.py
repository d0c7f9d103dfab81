"""Messages as frames: split in any way, and of limited size."""

from __future__ import annotations

import pytest

from arena.processes import frames
from arena.processes.frames import Frames, FrameTooLarge, packed

MESSAGES = [[1, "two"], None, b"\0" * 1000, {"three": (4.5, ())}]


@pytest.mark.parametrize("size", [1, 3, 1000, 10_000])
def test_messages_arrive_whatever_their_pieces(size: int) -> None:
    stream, taken = b"".join(map(packed, MESSAGES)), Frames()
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert [message for piece in pieces for message in taken.take(piece)] == MESSAGES


def test_a_message_that_is_too_large_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST", 1000)
    with pytest.raises(
        FrameTooLarge, match=r"^a message of \d{4} bytes is larger than the 1000 that a frame may have$"
    ):
        packed(bytes(1000))
    assert len(packed(bytes(900))) > 900


def test_a_length_that_no_frame_has_is_refused_before_the_rest_comes() -> None:
    most = frames.MOST.to_bytes(frames.HEAD, "big")
    assert Frames().take(most) == []
    beyond = (frames.MOST + 1).to_bytes(frames.HEAD, "big")
    with pytest.raises(FrameTooLarge, match=f"of {frames.MOST + 1} bytes"):
        Frames().take(packed("before") + beyond)
