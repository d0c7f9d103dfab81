"""Leduc poker in the protocol: its view and round report as protobuf messages."""

from __future__ import annotations

from engine.leduc import LeducRound, LeducView

from arena.api import leduc_pb2


def encode_view(view: LeducView) -> bytes:
    """Return the view of a seat, serialized."""
    return leduc_pb2.View(**view._asdict()).SerializeToString()


def encode_round(report: LeducRound) -> leduc_pb2.Round:
    """Return the report of a round, serialized."""
    return leduc_pb2.Round(
        opener=report.opener, cards=report.cards, board=report.board, first=report.first, second=report.second
    )
