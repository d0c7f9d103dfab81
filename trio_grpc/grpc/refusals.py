"""Refusals of calls that carry details besides a status and a text."""

from __future__ import annotations

import math

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from trio_grpc.grpc.call import CallRefused


def over_budget(wait: float, work_untrusted: float, error_domain: str = "") -> CallRefused:
    """Return the refusal of a call that may be repeated after `wait` seconds."""
    text = (
        f"calls without a valid token from this address have {work_untrusted:g} % of a core, and have used it up; "
        f"try again in {math.ceil(wait)} s"
    )
    return explained(grpc.StatusCode.RESOURCE_EXHAUSTED, text, "OVER_BUDGET", error_domain, wait)


def explained(
    code: grpc.StatusCode, text: str, reason: str, error_domain: str, wait: float | None = None
) -> CallRefused:
    """Return a refusal with a status, a text for humans, and details for programs (`google.rpc`).

    The details are the seconds to wait before trying again, if any (`RetryInfo`), and the reason, such as "TAKEN_OVER"
    (`ErrorInfo`).
    """
    details = [error_details_pb2.ErrorInfo(reason=reason, domain=error_domain)]
    if wait is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(math.ceil(wait * 1000))
        details.insert(0, retry)
    packed = [any_pb2.Any() for _ in details]
    for each, detail in zip(packed, details, strict=True):
        each.Pack(detail)
    number: int = code.value[0]
    status = status_pb2.Status(code=number, message=text, details=packed)
    return CallRefused(code, text, status.SerializeToString())
