"""Protobuf messages created from rows and from byte strings: code that the services and the questions to bots share."""
