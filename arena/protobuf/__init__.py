"""Protobuf messages made from rows and from strings; what the services and the questions share."""
