"""`arena …`: one file a group of verbs. It parses, wires things together and prints."""
