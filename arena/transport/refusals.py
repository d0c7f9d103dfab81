"""Refusals of calls that say more than a status and a text."""

from __future__ import annotations

import math

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from arena.transport.call import CallRefused


def over_budget(wait: float, work_untrusted: float, error_domain: str = "") -> CallRefused:
    """Return the refusal of a call that may be repeated after so many seconds."""
    text = (
        f"calls without a valid token from this address have {work_untrusted:g} % of a core, and have used it up; "
        f"try again in {math.ceil(wait)} s"
    )
    return exhausted(text, wait, "OVER_BUDGET", error_domain)


def exhausted(text: str, wait: float, reason: str, error_domain: str) -> CallRefused:
    """Return RESOURCE_EXHAUSTED with a text for people; for programs a reason, and the seconds until one may retry."""
    details = [any_pb2.Any(), any_pb2.Any()]
    retry = error_details_pb2.RetryInfo()
    retry.retry_delay.FromMilliseconds(math.ceil(wait * 1000))
    details[0].Pack(retry)
    details[1].Pack(error_details_pb2.ErrorInfo(reason=reason, domain=error_domain))
    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    status = status_pb2.Status(code=code.value[0], message=text, details=details)
    return CallRefused(code, text, status.SerializeToString())
