"""The door: the only room that knows protobuf and gRPC, and in it one file, the bridge, that knows asyncio.

It turns bytes into the server's words and back; it never decides anything about a match.
"""
