"""Read the reason of a refusal with generated code."""

import grpc
from google.rpc import error_details_pb2, status_pb2


def reason(error: grpc.Call) -> str:
    info = error_details_pb2.ErrorInfo()
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                if detail.Unpack(info):
                    return str(info.reason)
    return ""
