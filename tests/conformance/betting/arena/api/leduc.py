"""Leduc poker on the wire: its view and its round report as protobuf messages."""

from __future__ import annotations

from arena_client.v1 import leduc_pb2
from engine.leduc import LeducRound, LeducView


def encode_view(view: LeducView) -> bytes:
    """The view of a seat, serialized."""
    return leduc_pb2.LeducView(**view._asdict()).SerializeToString()


def encode_round(report: LeducRound) -> leduc_pb2.LeducRound:
    """A round that is over."""
    return leduc_pb2.LeducRound(
        opener=report.opener, cards=report.cards, board=report.board, first=report.first, second=report.second
    )
